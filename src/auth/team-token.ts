import type { Scope } from "../contract/constants.ts";
import { fromBase64Url, toBase64Url } from "../core/base64.ts";
import { equalInConstantTime } from "../core/equal.ts";
import type { Principal } from "./principal.ts";

const PREFIX = "trpt_";
/** Longest life of a token that is sent in a query string, in seconds. */
export const LONGEST_QUERY_TOKEN = 600;

export interface TeamTokenClaims {
  tenant: string;
  team: string;
  /** Of the team; a later team with the same id has another one. */
  creation: string;
  scopes: readonly Scope[];
  /** Seconds. */
  expires_in: number;
}

/** What a token says; times are in epoch seconds. */
interface TokenPayload extends Omit<TeamTokenClaims, "expires_in"> {
  iat: number;
  exp: number;
  /** Random: no two tokens are the same. Missing in tokens that earlier versions made. */
  jti?: string;
}

const encoder = new TextEncoder();

type HmacKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/**
 * Signs tokens that are good for one team, for browsers: `trpt_{payload}.{mac}`, both base64url. The key is derived
 * from `SECRETS_KEY` (HKDF-SHA-256) and used for nothing else.
 */
export class TeamTokens {
  readonly #secret: Uint8Array<ArrayBuffer>;
  #key: Promise<HmacKey> | undefined;

  /** @param secret the bytes of SECRETS_KEY */
  constructor(secret: Uint8Array<ArrayBuffer>) {
    this.#secret = secret;
  }

  static isToken(text: string): boolean {
    return text.startsWith(PREFIX);
  }

  async sign(claims: TeamTokenClaims, now: number): Promise<{ token: string; expires_at: string }> {
    const { expires_in, ...rest } = claims;
    const iat = Math.floor(now / 1000);
    const exp = iat + expires_in;
    const said: TokenPayload = { ...rest, iat, exp, jti: crypto.randomUUID() };
    const payload = toBase64Url(encoder.encode(JSON.stringify(said)));
    return {
      token: `${PREFIX}${payload}.${await this.#mac(payload)}`,
      expires_at: new Date(exp * 1000).toISOString(),
    };
  }

  /**
   * The principal of a token; undefined when it is not ours or has expired. Only the team can tell whether it is still
   * the team that the token was made for.
   *
   * @param inQuery it came in a query string: then it must be short-lived
   */
  async verify(token: string, now: number, inQuery = false): Promise<Principal | undefined> {
    const [payload = "", mac = "", ...more] = token.slice(PREFIX.length).split(".");
    if (more.length > 0 || !equalInConstantTime(mac, await this.#mac(payload))) return undefined;
    // The signature is ours, so it is what we wrote.
    const said = JSON.parse(new TextDecoder().decode(fromBase64Url(payload))) as TokenPayload;
    const { tenant, team, creation, scopes, iat, exp, jti = payload } = said;
    if (exp * 1000 <= now) return undefined;
    if (inQuery && exp - iat > LONGEST_QUERY_TOKEN) return undefined;
    return {
      id: `team:${jti}`,
      tenant,
      scopes: inQuery ? scopes.filter((scope) => scope.endsWith(":read")) : scopes,
      kind: "team",
      name: null,
      expires_at: new Date(exp * 1000).toISOString(),
      team: { id: team, creation },
    };
  }

  async #mac(payload: string): Promise<string> {
    this.#key ??= deriveKey(this.#secret);
    const mac = await crypto.subtle.sign("HMAC", await this.#key, encoder.encode(payload));
    return toBase64Url(new Uint8Array(mac));
  }
}

async function deriveKey(secret: Uint8Array<ArrayBuffer>): Promise<HmacKey> {
  const base = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveKey"]);
  return crypto.subtle.deriveKey(
    {
      name: "HKDF",
      hash: "SHA-256",
      salt: new Uint8Array(),
      info: encoder.encode("troupe team tokens 1"),
    },
    base,
    { name: "HMAC", hash: "SHA-256", length: 256 },
    false,
    ["sign"],
  );
}
