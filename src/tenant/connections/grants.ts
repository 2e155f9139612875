import type { LoginWanted } from "../../contract/gateways/tenant-gateway.ts";
import {
  type OAuthClientAddresses,
  issuerName,
  oauthClientAddresses,
  oauthClientMetadata,
} from "../../contract/tenant/oauth-client.ts";
import type { JsonObject } from "../../core/json.ts";
import type { ConnectionRecord } from "./connection-store.ts";

/** The service as a client of one authorization server. */
export interface ClientForm extends OAuthClientAddresses {
  clientMetadata: ReturnType<typeof oauthClientMetadata>;
}

/** The form for an issuer; null for clients that an operator has registered, which all have the same addresses. */
export type ClientForms = (issuer: string | null) => Promise<ClientForm>;

/** @param baseUrl the address at which browsers reach the service */
export function clientForms(baseUrl: string): ClientForms {
  return async (issuer) => clientForm(baseUrl, issuer === null ? null : await issuerName(issuer));
}

/** @param name see {@link issuerName} */
export function clientForm(baseUrl: string, name: string | null): ClientForm {
  const addresses = oauthClientAddresses(baseUrl, name);
  return { ...addresses, clientMetadata: oauthClientMetadata(addresses.redirectUrl) };
}

/** A login that a human has to make. */
export interface BegunLogin {
  /** The address of the authorization endpoint, without `state`. */
  url: string;
  /** The identifier of the authorization server. */
  issuer: string;
  /** True if the client comes back to the address that all share. */
  shared: boolean;
}

/** OAuth, as the deployment does it. It does not change the grants that it gets: its answer has the next one. */
export interface OAuth {
  /** Renews the tokens of a grant, or begins a login instead. */
  tokens(
    grant: JsonObject,
    wanted: {
      forms: ClientForms;
      server: string;
      /** False if the server has not said its wants yet. */
      asked: boolean;
      scope: string | null;
      resourceMetadata: string | null;
      login: boolean;
    },
  ): Promise<{ grant: JsonObject; login: BegunLogin | null }>;
  /** Redeems the code of a login. */
  redeem(
    grant: JsonObject,
    back: ClientForm & {
      server: string;
      code: string | null;
      iss: string | null;
      error: string | null;
    },
  ): Promise<JsonObject>;
  /** Has the authorization server revoke the tokens of a grant, if it does that. Never rejects. */
  revoke(server: string, grant: JsonObject): Promise<void>;
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

/** The record of a connection with the tokens of a grant. */
export function connected(
  before: ConnectionRecord,
  grant: JsonObject,
  sealed: string,
): ConnectionRecord {
  const { scope = null, issuer = null } = tokensOf(grant) ?? {};
  return { ...before, scope, issuer, connected: true, grant: sealed };
}

/** True if tokens are good for what a server wants. */
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
