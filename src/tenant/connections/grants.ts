import type { LoginReturn, LoginWanted } from "../../contract/gateways/tenant-gateway.ts";
import {
  type OAuthClientAddresses,
  oauthClientAddresses,
  oauthClientMetadata,
} from "../../contract/tenant/oauth-client.ts";
import type { JsonObject } from "../../core/json.ts";

/** How a login is made. */
export interface LoginForm extends OAuthClientAddresses {
  clientMetadata: ReturnType<typeof oauthClientMetadata>;
  /** The parameter by which the way back is recognized. */
  state: string;
}

/** @param baseUrl the address at which browsers reach the service */
export function loginForm(baseUrl: string, state: string): LoginForm {
  const addresses = oauthClientAddresses(baseUrl);
  return { ...addresses, clientMetadata: oauthClientMetadata(addresses.redirectUrl), state };
}

/** OAuth, as the deployment does it. It does not change the grants that it gets: its answer has the next one. */
export interface OAuth {
  /** Renews the tokens of a grant; `url` is where a human has to log in instead. */
  tokens(
    grant: JsonObject,
    wanted: LoginForm & {
      server: string;
      /** Whether the server has said what it wants. */
      asked: boolean;
      scope: string | null;
      resourceMetadata: string | null;
      login: boolean;
    },
  ): Promise<{ grant: JsonObject; url: string | null }>;
  /** Redeems the code of a login. */
  redeem(
    grant: JsonObject,
    back: LoginForm & LoginReturn & { server: string },
  ): Promise<JsonObject>;
}

/** The tokens of a grant, in the form of OAuth. */
export interface Tokens {
  access_token: string;
  scope?: string;
  issuer?: string;
  /** Epoch milliseconds. */
  expires_at?: number;
}

/** A token that ends within this time is renewed before it is given out. */
const EXPIRES_SOON_MS = 10_000;

/** The rest of a grant is for OAuth only. */
export function tokensOf(grant: JsonObject): Tokens | undefined {
  return grant["tokens"] as unknown as Tokens | undefined;
}

/** The grant without what belongs to a login that has begun. */
export function lasting(grant: JsonObject): JsonObject {
  const { verifier: _, asked_scope: __, ...kept } = grant;
  return kept;
}

/** Whether tokens are good for what a server wants. */
export function suffices(
  { access_token, scope, expires_at = Infinity }: Tokens,
  { rejected, insufficient, scope: wanted }: LoginWanted,
): boolean {
  if (access_token === rejected || expires_at < Date.now() + EXPIRES_SOON_MS) return false;
  const granted = new Set((scope ?? "").split(" "));
  return !insufficient || (wanted ?? "").split(" ").every((one) => granted.has(one));
}

/** The address of a server as connections have it. */
export function plainServer(url: string): string {
  const plain = new URL(url);
  plain.hash = "";
  return plain.href;
}
