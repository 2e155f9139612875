import { SCOPES } from "../../contract/constants.ts";
import { KeySigner, type ParsedApiKey, parseApiKey } from "./api-key.ts";
import { ValueError } from "../../core/errors.ts";
import { equalInConstantTime } from "../../core/equal.ts";
import { sha256Hex } from "../../core/hash.ts";
import { KEY_BYTES, secretsKeyBytes } from "../../secrets/secrets-key.ts";
import { identityTokenSettings, IdentityTokens, IssuerUnavailableError } from "./identity-token.ts";
import {
  type Authenticate,
  isTenantId,
  type Principal,
  type Refusal,
  unauthorized,
} from "./principal.ts";
import { AddressBudget, addressOf, tooManyRefusals } from "./refusals.ts";
import { parseOperatorHash, StaticKeys } from "./static-keys.ts";
import { TeamTokens } from "./team-token.ts";
import { CredentialCache } from "./credential-cache.ts";

/** Longest credential that is checked, in characters. */
const LONGEST_CREDENTIAL = 8_192;
/** Names the tenant in which an operator acts. */
export const TENANT_HEADER = "troupe-tenant";

export interface CredentialSources {
  staticKeys: StaticKeys | undefined;
  operatorHash: string | undefined;
  identityTokens: IdentityTokens | undefined;
  teamTokens: TeamTokens | undefined;
  /**
   * Asks a tenant about a created key. Undefined for one that is unknown, revoked, expired or has another hash.
   * @param hash SHA-256 of the whole key, hex
   */
  createdKey:
    | ((tenant: string, id: string, hash: string) => Promise<Principal | undefined>)
    | undefined;
  /** Signs created keys. */
  keySigner: KeySigner | undefined;
  /** Requests without a valid credential that an address may send in a minute. */
  refusalsPerMinute: number;
}

/**
 * Reads the settings for credentials.
 *
 * @throws ValueError naming the setting that cannot be used
 */
export function credentialSources(
  settings: { readonly [name: string]: unknown },
  guardedFetch: typeof fetch,
  createdKey: CredentialSources["createdKey"],
): CredentialSources {
  const text = (name: string): string | undefined => {
    const value = settings[name];
    return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
  };
  const apiKeys = text("API_KEYS");
  const operatorHash = text("OPERATOR_KEY_HASH");
  const identity = identityTokenSettings(settings);
  const secret = secretsKeyBytes(settings["SECRETS_KEY"]);
  const keysSecret = text("CREATED_KEYS_SECRET");
  const signing = keysSecret === undefined ? secret : secretsKeyBytes(keysSecret);
  if (keysSecret !== undefined && signing === undefined) {
    throw new ValueError(`CREATED_KEYS_SECRET must be ${KEY_BYTES} bytes as base64`);
  }
  return {
    staticKeys: apiKeys === undefined ? undefined : StaticKeys.parse(apiKeys),
    operatorHash: operatorHash === undefined ? undefined : parseOperatorHash(operatorHash),
    identityTokens: identity && new IdentityTokens(identity, guardedFetch),
    teamTokens: secret === undefined ? undefined : new TeamTokens(secret),
    createdKey,
    keySigner: signing && new KeySigner(signing),
    refusalsPerMinute: refusalsPerMinute(text(REFUSALS_SETTING)),
  };
}

const REFUSALS_SETTING = "REFUSALS_PER_MINUTE";
const DEFAULT_REFUSALS = 1_000;
/**
 * How many keys that no present secret has signed, and that turn out to be invalid, an address may send in a minute: their
 * tenants have to be asked.
 */
const UNKNOWN_KEYS_PER_MINUTE = 60;

function refusalsPerMinute(setting: string | undefined): number {
  const value = setting === undefined ? DEFAULT_REFUSALS : Number(setting);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new ValueError(
    `${REFUSALS_SETTING} is ${JSON.stringify(setting)}: it must be a positive whole number`,
  );
}

/** Whether any credential can be valid. Created keys and team tokens do not count: creating one takes a credential. */
export function isConfigured(sources: CredentialSources): boolean {
  return (
    sources.staticKeys !== undefined ||
    sources.operatorHash !== undefined ||
    sources.identityTokens !== undefined
  );
}

/** Authenticates a request by its bearer credential, or the token in the query of a stream. */
export class Credentials {
  readonly #sources: CredentialSources;
  readonly #cache = new CredentialCache();
  readonly #refusals: AddressBudget;
  readonly #unknownKeys = new AddressBudget(UNKNOWN_KEYS_PER_MINUTE);

  constructor(sources: CredentialSources) {
    this.#sources = sources;
    this.#refusals = new AddressBudget(sources.refusalsPerMinute);
  }

  readonly authenticate: Authenticate = async (request) => {
    const address = addressOf(request);
    const credential = bearer(request);
    const checked =
      credential === undefined
        ? await this.#fromQuery(request)
        : ((await this.#check(credential, request.headers.get(TENANT_HEADER), address)) ??
          unauthorized(true));
    if (!("problem" in checked) && isFor(checked, request)) return checked;
    const refusal = "problem" in checked ? checked : unauthorized(true);
    if (refusal.problem.status !== 401) return refusal;
    if (this.#refusals.take(address, Date.now())) return refusal;
    const { refusalsPerMinute: limit } = this.#sources;
    return tooManyRefusals("refusals_per_minute", limit, this.#refusals.pause);
  };

  /**
   * The principal of a credential; undefined when it is not valid.
   *
   * @param actAs the tenant an operator wants to act in
   * @param address that sent it
   */
  async #check(
    credential: string,
    actAs: string | null,
    address: string,
  ): Promise<Principal | Refusal | undefined> {
    if (credential.length > LONGEST_CREDENTIAL) return undefined;
    const now = Date.now();
    const hash = await sha256Hex(credential);
    const { operatorHash } = this.#sources;
    if (operatorHash !== undefined && equalInConstantTime(operatorHash, hash))
      return operator(actAs);
    const known = this.#cache.get(hash, now);
    if (known !== undefined) return known ?? undefined;
    try {
      const verified = await this.#verify(credential, hash, now, address);
      if (verified && "problem" in verified) return verified;
      this.#cache.set(hash, verified ?? null, now);
      return verified;
    } catch (error) {
      if (error instanceof IssuerUnavailableError) return issuerUnavailable();
      throw error;
    }
  }

  async #verify(
    credential: string,
    hash: string,
    now: number,
    address: string,
  ): Promise<Principal | Refusal | undefined> {
    const { staticKeys, teamTokens, identityTokens } = this.#sources;
    const configured = staticKeys?.find(hash);
    if (configured) return configured;
    const key = parseApiKey(credential);
    if (key) return this.#createdKey(key, hash, now, address);
    if (TeamTokens.isToken(credential)) return teamTokens?.verify(credential, now);
    // A JWT: three parts, the first of which is a JSON object in base64url.
    if (/^eyJ[\w-]*\.[\w-]+\.[\w-]*$/.test(credential)) return identityTokens?.verify(credential);
    return undefined;
  }

  /**
   * A key with the present MAC was made here, so its tenant is asked; a forged one is refused. For others, made before there
   * were MACs or with another secret, an address may have few tenants asked in vain.
   */
  async #createdKey(
    key: ParsedApiKey,
    hash: string,
    now: number,
    address: string,
  ): Promise<Principal | Refusal | undefined> {
    const { createdKey, keySigner } = this.#sources;
    const origin = (await keySigner?.originOf(key)) ?? "unknown";
    if (createdKey === undefined || origin === "forged") return undefined;
    if (origin === "genuine") return createdKey(key.tenant, key.id, hash);
    if (!this.#unknownKeys.take(address, now)) {
      const limit = UNKNOWN_KEYS_PER_MINUTE;
      return tooManyRefusals("unknown_keys_per_minute", limit, this.#unknownKeys.pause);
    }
    const principal = await createdKey(key.tenant, key.id, hash);
    if (principal) this.#unknownKeys.giveBack(address);
    return principal;
  }

  /** EventSource cannot send headers, so a stream takes a short-lived token in its query. */
  async #fromQuery(request: Request): Promise<Principal | Refusal> {
    const { pathname, searchParams } = new URL(request.url);
    const token = searchParams.get("token");
    if (token === null) return unauthorized(false);
    const isStream = request.method === "GET" && /^\/v1\/.*\/events$/.test(pathname);
    const { teamTokens } = this.#sources;
    if (!isStream || !TeamTokens.isToken(token) || token.length > LONGEST_CREDENTIAL) {
      return unauthorized(true);
    }
    return (await teamTokens?.verify(token, Date.now(), true)) ?? unauthorized(true);
  }
}

/** Whether the credential's audience, if it has one, is what the request asks. */
function isFor({ paths }: Principal, { url }: Request): boolean {
  if (paths === undefined) return true;
  const { pathname } = new URL(url);
  return paths.some((path) => `${pathname}/`.startsWith(`${path}/`));
}

function operator(tenant: string | null): Principal | Refusal {
  if (tenant !== null && !isTenantId(tenant)) {
    return {
      problem: {
        status: 422,
        code: "invalid_tenant",
        detail: "Troupe-Tenant must be 1 to 63 lower-case letters, digits and hyphens.",
        errors: [{ path: "Troupe-Tenant", message: "must match [a-z0-9-]{1,63}" }],
      },
    };
  }
  return {
    id: "operator",
    tenant: tenant ?? "",
    scopes: SCOPES,
    kind: "operator",
    name: "operator",
    expires_at: null,
  };
}

function issuerUnavailable(): Refusal {
  return {
    problem: {
      status: 503,
      code: "issuer_unavailable",
      detail: "The keys of the identity tokens' issuer cannot be read at the moment. Try again.",
      retry_after: 5,
    },
  };
}

/** The credential of `Authorization: Bearer`. */
function bearer(request: Request): string | undefined {
  const [, credential] = /^Bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  return credential;
}
