import { SCOPES } from "../../contract/constants.ts";
import { KEY_PREFIX, KeySigner, type ParsedApiKey, parseApiKey } from "./api-key.ts";
import { ValueError } from "../../core/errors.ts";
import { equalInConstantTime } from "../../core/equal.ts";
import { sha256Hex } from "../../core/hash.ts";
import { KEY_BYTES, secretsKeyBytes } from "../../secrets/secrets-key.ts";
import { identityTokenSettings, IdentityTokens, IssuerUnavailableError } from "./identity-token.ts";
import {
  type Authenticate,
  invalidTenant,
  isTenantId,
  type Principal,
  type Refusal,
  TENANT_HEADER,
  unauthorized,
} from "./principal.ts";
import { AddressBudget, addressOf, tooManyRefusals } from "./refusals.ts";
import { parseOperatorHash, StaticKeys } from "./static-keys.ts";
import { TeamTokens } from "./team-token.ts";
import { CredentialCache } from "./credential-cache.ts";

/** Longest credential that is checked, in characters. */
const LONGEST_CREDENTIAL = 8_192;
/** A JWT: three parts, the first of which is a JSON object in base64url. */
const JWT = /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/;

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
  /** Resolves to true if a tenant has a created key that has not expired. */
  hasKey: ((tenant: string, id: string) => Promise<boolean>) | undefined;
  /** Signs created keys. */
  keySigner: KeySigner | undefined;
  /** The signer before the secret was changed. Where there is one, a key that neither has signed is refused. */
  previousKeySigner: KeySigner | undefined;
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
  { createdKey, hasKey }: Partial<Pick<CredentialSources, "createdKey" | "hasKey">>,
): CredentialSources {
  const text = (name: string): string | undefined => {
    const value = settings[name];
    return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
  };
  const apiKeys = text("API_KEYS");
  const operatorHash = text("OPERATOR_KEY_HASH");
  const identity = identityTokenSettings(settings);
  const secret = secretsKeyBytes(settings["SECRETS_KEY"]);
  const bytes = (name: string): ReturnType<typeof secretsKeyBytes> => {
    const value = text(name);
    const read = value === undefined ? undefined : secretsKeyBytes(value);
    if (value !== undefined && read === undefined) {
      throw new ValueError(`${name} must be ${KEY_BYTES} bytes as base64`);
    }
    return read;
  };
  const signing = bytes("CREATED_KEYS_SECRET") ?? secret;
  const previous = bytes("CREATED_KEYS_SECRET_PREVIOUS");
  if (previous !== undefined && signing === undefined) {
    throw new ValueError(
      "CREATED_KEYS_SECRET_PREVIOUS needs CREATED_KEYS_SECRET or SECRETS_KEY, the secret that signs keys now",
    );
  }
  const staticKeys = apiKeys === undefined ? undefined : StaticKeys.parse(apiKeys);
  return {
    staticKeys,
    operatorHash: operatorHash === undefined ? undefined : parseOperatorHash(operatorHash),
    identityTokens: identity && new IdentityTokens(identity, guardedFetch),
    teamTokens: secret === undefined ? undefined : new TeamTokens(secret, staticKeys),
    createdKey,
    hasKey,
    keySigner: signing && new KeySigner(signing),
    previousKeySigner: previous && new KeySigner(previous),
    refusalsPerMinute: refusalsPerMinute(text(REFUSALS_SETTING)),
  };
}

const REFUSALS_SETTING = "REFUSALS_PER_MINUTE";
const DEFAULT_REFUSALS = 1_000;
/**
 * The number of invalid keys without a valid signature that an address may send in a minute: each costs a request to its
 * tenant.
 */
const UNKNOWN_KEYS_PER_MINUTE = 60;

function refusalsPerMinute(setting: string | undefined): number {
  const value = setting === undefined ? DEFAULT_REFUSALS : Number(setting);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new ValueError(
    `${REFUSALS_SETTING} is ${JSON.stringify(setting)}: it must be a positive whole number`,
  );
}

/** False if no credential can be valid. Created keys and team tokens do not count: creating one takes a credential. */
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

  /**
   * The caller of a request to an open server; undefined where the request has no credential of Troupe. Programs for other
   * services send any text as their key.
   */
  readonly authenticateSent = async (
    request: Request,
  ): Promise<Principal | Refusal | undefined> => {
    const sent = bearer(request) ?? new URL(request.url).searchParams.get("token");
    return sent !== null && (await this.#isMeant(sent)) ? this.authenticate(request) : undefined;
  };

  /** True if a text is one of the credentials that are checked here, or has the form of one. */
  async #isMeant(text: string): Promise<boolean> {
    const { operatorHash, staticKeys, identityTokens } = this.#sources;
    if (text.startsWith(KEY_PREFIX) || TeamTokens.isToken(text)) return true;
    if (identityTokens !== undefined && JWT.test(text)) return true;
    const hash = await sha256Hex(text);
    return hash === operatorHash || staticKeys?.find(hash) !== undefined;
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
    const existing = this.#cache.get(hash, now);
    if (existing !== undefined) return existing ?? undefined;
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
    const { staticKeys, identityTokens } = this.#sources;
    const configured = staticKeys?.find(hash);
    if (configured) return configured;
    const key = parseApiKey(credential);
    if (key) return this.#createdKey(key, hash, now, address);
    if (TeamTokens.isToken(credential)) return this.#teamToken(credential, now);
    if (JWT.test(credential)) return identityTokens?.verify(credential);
    return undefined;
  }

  /**
   * A key with the present or the previous MAC was made here, so its tenant is asked; a forged one is refused. Without a previous
   * secret, a key may have been made before there were MACs or with a secret that is gone: for these, an address may have few tenants
   * asked in vain.
   */
  async #createdKey(
    key: ParsedApiKey,
    hash: string,
    now: number,
    address: string,
  ): Promise<Principal | Refusal | undefined> {
    const { createdKey, keySigner, previousKeySigner } = this.#sources;
    const present = (await keySigner?.originOf(key)) ?? "unknown";
    const origin =
      present === "unknown" && previousKeySigner !== undefined
        ? await previousKeySigner.originOf(key)
        : present;
    const isRefused = origin === "unknown" && previousKeySigner !== undefined;
    if (createdKey === undefined || origin === "forged" || isRefused) return undefined;
    if (origin === "genuine") return createdKey(key.tenant, key.id, hash);
    if (!this.#unknownKeys.take(address, now)) {
      const limit = UNKNOWN_KEYS_PER_MINUTE;
      return tooManyRefusals("unknown_keys_per_minute", limit, this.#unknownKeys.pause);
    }
    const principal = await createdKey(key.tenant, key.id, hash);
    if (principal) this.#unknownKeys.giveBack(address);
    return principal;
  }

  /** A token ends with the key that made it, if it says so. @param inQuery it came in a query string */
  async #teamToken(token: string, now: number, inQuery = false): Promise<Principal | undefined> {
    const { teamTokens, hasKey } = this.#sources;
    const verified = await teamTokens?.verify(token, now, inQuery);
    if (teamTokens === undefined || verified === undefined) return undefined;
    const { principal, maker } = verified;
    if (maker === undefined) return principal;
    const { tenant } = principal;
    if ("static" in maker) {
      return (await teamTokens.configured(tenant)).has(maker.static) ? principal : undefined;
    }
    const exists = (await hasKey?.(tenant, maker.key)) ?? false;
    return exists ? { ...principal, key: maker.key } : undefined;
  }

  /** EventSource cannot send headers, so a stream takes a short-lived token in its query. */
  async #fromQuery(request: Request): Promise<Principal | Refusal> {
    const { pathname, searchParams } = new URL(request.url);
    const token = searchParams.get("token");
    if (token === null) return unauthorized(false);
    const isStream = request.method === "GET" && /^\/v1\/.*\/events$/.test(pathname);
    if (!isStream || !TeamTokens.isToken(token) || token.length > LONGEST_CREDENTIAL) {
      return unauthorized(true);
    }
    return (await this.#teamToken(token, Date.now(), true)) ?? unauthorized(true);
  }
}

/** True if the request is within the credential's audience. A credential without one is for all requests. */
function isFor({ paths }: Principal, { url }: Request): boolean {
  if (paths === undefined) return true;
  const { pathname } = new URL(url);
  return paths.some((path) => `${pathname}/`.startsWith(`${path}/`));
}

function operator(tenant: string | null): Principal | Refusal {
  if (tenant !== null && !isTenantId(tenant)) {
    return invalidTenant();
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
