import { beginningOf } from "../../core/cut.ts";
import type { JWTPayload, JWTVerifyGetKey } from "jose";
import { isScope, LONGEST_USER } from "../../contract/constants.ts";
import { ValueError } from "../../core/errors.ts";
import { sha256Hex } from "../../core/hash.ts";
import { isTenantId, type Principal } from "./principal.ts";

/** Only signatures with a public key: a token must never be verified with something its sender may know. */
const LONGEST_LABEL = 200;
const ALGORITHMS = ["RS256", "ES256", "EdDSA"];
const CLOCK_SKEW_SECONDS = 60;
/** Least milliseconds between two fetches of the issuer's keys, however many unknown `kid`s arrive. */
const REFETCH_AFTER_MS = 60_000;
const KEYS_VALID_MS = 600_000;
const FETCH_TIMEOUT_MS = 5_000;

export interface IdentityTokenSettings {
  issuer: string;
  audience: string;
  jwksUrl: string;
  tenantClaim: string;
  scopesClaim: string;
}

/**
 * Reads `JWT_ISSUER`, `JWT_AUDIENCE`, `JWT_JWKS_URL`, `JWT_TENANT_CLAIM` and `JWT_SCOPES_CLAIM`; undefined when
 * none of the first three is set.
 *
 * @throws ValueError naming the one that is missing or wrong
 */
export function identityTokenSettings(settings: {
  readonly [name: string]: unknown;
}): IdentityTokenSettings | undefined {
  const text = (name: string): string | undefined => {
    const value = settings[name];
    return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
  };
  const required = ["JWT_ISSUER", "JWT_AUDIENCE", "JWT_JWKS_URL"] as const;
  const [issuer, audience, jwksUrl] = required.map(text);
  if (issuer === undefined && audience === undefined && jwksUrl === undefined) return undefined;
  if (issuer === undefined || audience === undefined || jwksUrl === undefined) {
    const missing = required.filter((name) => text(name) === undefined);
    throw new ValueError(
      `${missing.join(" and ")} must be set: identity tokens need all of ${required.join(", ")}`,
    );
  }
  if (!URL.canParse(jwksUrl)) {
    throw new ValueError(`JWT_JWKS_URL is ${JSON.stringify(jwksUrl)}: it must be a URL`);
  }
  return {
    issuer,
    audience,
    jwksUrl,
    tenantClaim: text("JWT_TENANT_CLAIM") ?? "sub",
    scopesClaim: text("JWT_SCOPES_CLAIM") ?? "scope",
  };
}

/** The issuer's keys cannot be fetched, so no token can be verified. */
export class IssuerUnavailableError extends Error {}

/** Verifies tokens of an OpenID Connect issuer. */
export class IdentityTokens {
  readonly #settings: IdentityTokenSettings;
  readonly #fetch: typeof fetch;
  #keys: Promise<JWTVerifyGetKey> | undefined;

  /** @param guardedFetch refuses what the egress rules do not allow */
  constructor(settings: IdentityTokenSettings, guardedFetch: typeof fetch) {
    this.#settings = settings;
    this.#fetch = guardedFetch;
  }

  get issuer(): string {
    return this.#settings.issuer;
  }

  /**
   * The principal of a token; undefined when it is not valid.
   *
   * @throws IssuerUnavailableError
   */
  async verify(token: string): Promise<Principal | undefined> {
    // Loaded when the first identity token comes: most deployments have none.
    const jose = await import("./jose.ts");
    this.#keys ??= this.#remoteKeys();
    let payload: JWTPayload;
    try {
      ({ payload } = await jose.jwtVerify(token, await this.#keys, {
        issuer: this.#settings.issuer,
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_SKEW_SECONDS,
        requiredClaims: ["exp", "aud"],
      }));
    } catch (error) {
      if (isRefusal(error, jose)) return undefined;
      throw new IssuerUnavailableError("the issuer's keys cannot be read", { cause: error });
    }
    const paths = pathsOf(payload.aud, this.#settings.audience);
    if (paths.length === 0) return undefined;
    const principal = await this.#principal(payload, token);
    return principal && { ...principal, ...(!paths.includes("") && { paths }) };
  }

  async #remoteKeys(): Promise<JWTVerifyGetKey> {
    const { createRemoteJWKSet, customFetch } = await import("./jose.ts");
    return createRemoteJWKSet(new URL(this.#settings.jwksUrl), {
      cooldownDuration: REFETCH_AFTER_MS,
      cacheMaxAge: KEYS_VALID_MS,
      timeoutDuration: FETCH_TIMEOUT_MS,
      [customFetch]: this.#fetch,
    });
  }

  async #principal(payload: JWTPayload, token: string): Promise<Principal | undefined> {
    const claim = payload[this.#settings.tenantClaim];
    if (typeof claim !== "string" || claim === "") return undefined;
    const named = isTenantId(claim) && !claim.startsWith("u-");
    const sub = payload.sub === "" ? undefined : payload.sub;
    const user = typeof sub === "string" ? await userOf(sub) : null;
    return {
      // A token without a subject stands for itself.
      id: `identity:${user ?? (await sha256Hex(token))}`,
      tenant: named ? claim : `u-${(await sha256Hex(claim)).slice(0, 40)}`,
      ...(!named && { tenant_label: beginningOf(claim, LONGEST_LABEL) }),
      scopes: scopesOf(payload[this.#settings.scopesClaim]),
      kind: "identity",
      name: typeof sub === "string" ? sub : null,
      user,
      expires_at: payload.exp === undefined ? null : new Date(payload.exp * 1000).toISOString(),
    };
  }
}

/**
 * The paths of the service that a token is for, with all below them; the empty path is the whole service. None for a token
 * whose audience is another. Where the configured audience is the address of the service, a token may be for a part of it:
 * clients ask for a token for the address that they call (RFC 8707).
 */
function pathsOf(claim: JWTPayload["aud"], audience: string): string[] {
  const named = claim === undefined ? [] : [claim].flat();
  const whole = URL.canParse(audience) ? new URL(audience) : undefined;
  return named
    .map((one) => (one === audience ? "" : pathBelow(whole, one)))
    .filter((path) => path !== undefined);
}

/** Audiences of other schemes, such as api://4711, are compared as texts only: their URLs have no origin. */
function pathBelow(whole: URL | undefined, audience: string): string | undefined {
  if (whole === undefined || !URL.canParse(audience)) return undefined;
  const part = new URL(audience);
  const isResource = /^https?:$/.test(whole.protocol) && part.search === "" && part.hash === "";
  if (!isResource) return undefined;
  const base = withoutSlash(whole.pathname);
  const isBelow = part.origin === whole.origin && `${part.pathname}/`.startsWith(`${base}/`);
  return isBelow ? withoutSlash(part.pathname.slice(base.length)) : undefined;
}

function withoutSlash(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}

/** A subject as a user; a longer subject is replaced by its hash. */
async function userOf(subject: string): Promise<string> {
  return subject.length <= LONGEST_USER ? subject : `sha256-${await sha256Hex(subject)}`;
}

/** Scopes as OAuth has them, in one text separated by blanks, or a list. Unknown scopes are ignored. */
function scopesOf(claim: unknown): Principal["scopes"] {
  const names: unknown[] = typeof claim === "string" ? claim.split(" ") : [];
  return [...new Set(Array.isArray(claim) ? claim : names)].filter(isScope);
}

/** True if the token is at fault, not the fetch of the issuer's keys. */
function isRefusal(error: unknown, jose: typeof import("./jose.ts")): boolean {
  if (error instanceof jose.JWKSTimeout || error instanceof jose.JWKSInvalid) return false;
  // A response that is not 200, or not JSON, is a plain JOSEError.
  return error instanceof jose.JOSEError && error.code !== "ERR_JOSE_GENERIC";
}
