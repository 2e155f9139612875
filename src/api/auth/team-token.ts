import type { Scope } from "../../contract/constants.ts";
import type { TokenMaker } from "../../contract/common.ts";
import { fromBase64Url, toBase64Url } from "../../core/base64.ts";
import { equalInConstantTime } from "../../core/equal.ts";
import { randomBase62 } from "./bytes.ts";
import { HmacKey } from "../../secrets/hmac-key.ts";
import type { Principal } from "./principal.ts";
import type { StaticKeys } from "./static-keys.ts";

const PREFIX = "trpt_";
const ID_LENGTH = 12;
/** Longest life of a token that is sent in a query string, in seconds. */
export const LONGEST_QUERY_TOKEN = 600;

export interface TeamTokenClaims {
  tenant: string;
  team: string;
  /** The creation of the team; a later team with the same id has another one. */
  creation: string;
  scopes: readonly Scope[];
  /** The user it stands for. */
  user?: string | undefined;
  /** The credential with which it ends. */
  maker?: TokenMaker | undefined;
  /** Epoch seconds. */
  exp: number;
}

/** The payload of a token. Times are in epoch seconds. */
interface TokenPayload extends Omit<TeamTokenClaims, "user" | "maker"> {
  /** Random: names the token where it is revoked, and makes it a caller of its own. Earlier versions wrote none. */
  jti?: string;
  /** The user; missing for none. */
  sub?: string;
  iat: number;
  /** The maker; missing for a token that ends with no other credential. */
  by?: TokenMaker;
}

/** A token that this deployment has signed and that has not expired. */
export interface VerifiedToken {
  principal: Principal;
  maker: TokenMaker | undefined;
}

const encoder = new TextEncoder();

/**
 * Signs tokens that are good for one team, for browsers: `trpt_{payload}.{mac}`, both base64url. The key is derived
 * from `SECRETS_KEY` (HKDF-SHA-256) and used for nothing else.
 */
export class TeamTokens {
  readonly #key: HmacKey;
  readonly #staticKeys: Pick<StaticKeys, "ids"> | undefined;

  /**
   * @param secret the bytes of SECRETS_KEY
   * @param staticKeys the keys of the settings, which make tokens
   */
  constructor(secret: Uint8Array<ArrayBuffer>, staticKeys?: Pick<StaticKeys, "ids">) {
    this.#key = new HmacKey(secret, "troupe team tokens 1");
    this.#staticKeys = staticKeys;
  }

  static isToken(text: string): boolean {
    return text.startsWith(PREFIX);
  }

  async sign(
    claims: TeamTokenClaims,
    now: number,
  ): Promise<{ id: string; token: string; expires_at: string }> {
    const { user, maker, ...rest } = claims;
    const id = randomBase62(ID_LENGTH);
    const said: TokenPayload = {
      ...rest,
      jti: id,
      ...(user !== undefined && { sub: user }),
      ...(maker !== undefined && { by: maker }),
      iat: now / 1000,
    };
    const payload = toBase64Url(encoder.encode(JSON.stringify(said)));
    return {
      id,
      token: `${PREFIX}${payload}.${await this.#mac(payload)}`,
      expires_at: new Date(claims.exp * 1000).toISOString(),
    };
  }

  /**
   * The name of a static key in its tokens: who has one must not learn the key's hash.
   *
   * @param id the principal of the key has it
   */
  nameOf(id: string): Promise<string> {
    return this.#mac(`key ${id}`);
  }

  /** The names of the static keys that the settings have for a tenant. */
  async configured(tenant: string): Promise<ReadonlySet<string>> {
    const ids = this.#staticKeys?.ids(tenant) ?? [];
    return new Set(await Promise.all(ids.map((id) => this.nameOf(id))));
  }

  /**
   * The principal of a token, and with which credential it ends; undefined when this deployment did not sign it, or it has expired. Only the
   * team knows whether it is still the team that the token was made for, and whether the token was revoked.
   *
   * @param inQuery it came in a query string: then it must be short-lived
   */
  async verify(token: string, now: number, inQuery = false): Promise<VerifiedToken | undefined> {
    const [payload = "", mac = "", ...more] = token.slice(PREFIX.length).split(".");
    if (more.length > 0 || !equalInConstantTime(mac, await this.#mac(payload))) return undefined;
    // The signature is valid, so this deployment has written the payload.
    const said = JSON.parse(new TextDecoder().decode(fromBase64Url(payload))) as TokenPayload;
    const { tenant, team, creation, scopes, iat, exp, jti = null, sub = null, by } = said;
    if (exp * 1000 <= now) return undefined;
    if (inQuery && exp - iat > LONGEST_QUERY_TOKEN) return undefined;
    const principal: Principal = {
      id: `team:${jti ?? payload}`,
      tenant,
      scopes: inQuery ? scopes.filter((scope) => scope.endsWith(":read")) : scopes,
      kind: "team",
      name: null,
      user: sub,
      expires_at: new Date(exp * 1000).toISOString(),
      team: { id: team, token: { creation, id: jti, made_at: Math.round(iat * 1000) } },
    };
    return { principal, maker: by };
  }

  async #mac(payload: string): Promise<string> {
    return toBase64Url(await this.#key.mac(payload));
  }
}
