import { SCOPES } from "../contract/constants.ts";
import { parseApiKey } from "./api-key.ts";
import { equalInConstantTime } from "../core/equal.ts";
import { sha256Hex } from "../core/sha256.ts";
import { secretsKeyBytes } from "../secrets/secrets-key.ts";
import { identityTokenSettings, IdentityTokens, IssuerUnavailableError } from "./identity-token.ts";
import {
  type Authenticate,
  isTenantId,
  type Principal,
  type Refusal,
  unauthorized,
} from "./principal.ts";
import { parseOperatorHash, StaticKeys } from "./static-keys.ts";
import { TeamTokens } from "./team-token.ts";
import { Verdicts } from "./verdicts.ts";

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
  return {
    staticKeys: apiKeys === undefined ? undefined : StaticKeys.parse(apiKeys),
    operatorHash: operatorHash === undefined ? undefined : parseOperatorHash(operatorHash),
    identityTokens: identity && new IdentityTokens(identity, guardedFetch),
    teamTokens: secret === undefined ? undefined : new TeamTokens(secret),
    createdKey,
  };
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
  readonly #verdicts = new Verdicts();

  constructor(sources: CredentialSources) {
    this.#sources = sources;
  }

  readonly authenticate: Authenticate = async (request) => {
    const credential = bearer(request);
    if (credential === undefined) return this.#fromQuery(request);
    const checked = await this.check(credential, request.headers.get(TENANT_HEADER));
    return checked ?? unauthorized(true);
  };

  /**
   * The principal of a credential; undefined when it is not valid.
   *
   * @param actAs the tenant an operator wants to act in
   */
  async check(credential: string, actAs: string | null): Promise<Principal | Refusal | undefined> {
    if (credential.length > LONGEST_CREDENTIAL) return undefined;
    const now = Date.now();
    const hash = await sha256Hex(credential);
    const { operatorHash } = this.#sources;
    if (operatorHash !== undefined && equalInConstantTime(operatorHash, hash))
      return operator(actAs);
    const known = this.#verdicts.get(hash, now);
    if (known) return known;
    try {
      const principal = await this.#verify(credential, hash, now);
      if (principal) this.#verdicts.set(hash, principal, now);
      return principal;
    } catch (error) {
      if (error instanceof IssuerUnavailableError) return issuerUnavailable();
      throw error;
    }
  }

  async #verify(credential: string, hash: string, now: number): Promise<Principal | undefined> {
    const { staticKeys, createdKey, teamTokens, identityTokens } = this.#sources;
    const configured = staticKeys?.find(hash);
    if (configured) return configured;
    const key = parseApiKey(credential);
    if (key) return createdKey?.(key.tenant, key.id, hash);
    if (TeamTokens.isToken(credential)) return teamTokens?.verify(credential, now);
    // A JWT: three parts, the first of which is a JSON object in base64url.
    if (/^eyJ[\w-]*\.[\w-]+\.[\w-]*$/.test(credential)) return identityTokens?.verify(credential);
    return undefined;
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
