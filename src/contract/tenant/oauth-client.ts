import { sha256Hex } from "../../core/hash.ts";

/** The paths, below the address of the service, that logins at MCP servers use. */
const CALLBACK = "/v1/connections/callback";
const CLIENT_METADATA = "/v1/connections/client";
const LOGIN = "/v1/connections/login";

/** The addresses of a service as a client of OAuth. */
export interface OAuthClientAddresses {
  /** The address to which the human's browser comes back. */
  redirectUrl: string;
  /** The address of the client's metadata, which is its id at authorization servers that read it. */
  clientMetadataUrl: string;
}

/**
 * The addresses for one authorization server. Each has its own, so that the answer of one is never taken for that of another
 * one; clients that an operator has registered come back to the one without a name.
 *
 * @param baseUrl the address at which browsers reach the service
 * @param name see {@link issuerName}; null for the addresses that all share
 */
export function oauthClientAddresses(baseUrl: string, name: string | null): OAuthClientAddresses {
  const own = name === null ? "" : `/${name}`;
  return {
    redirectUrl: baseUrl + CALLBACK + own,
    clientMetadataUrl: `${baseUrl}${CLIENT_METADATA}${own}.json`,
  };
}

/** The metadata of the service as a client of OAuth: in its own document, and in a registration (RFC 7591). */
export function oauthClientMetadata(redirectUrl: string) {
  return {
    client_name: "Troupe",
    redirect_uris: [redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
  };
}

/** Hexadecimal digits of a hash: 128 bits, so that no other issuer with the same ones can be found. */
const NAME_LENGTH = 32;

/** The name of an authorization server in addresses. @param issuer its identifier (RFC 8414) */
export async function issuerName(issuer: string): Promise<string> {
  return (await sha256Hex(issuer)).slice(0, NAME_LENGTH);
}

/** True if a text has the form of an {@link issuerName}. */
export function isIssuerName(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}

/** The page on which a human is asked before a browser goes to the authorization server. */
export function loginPageUrl(baseUrl: string, ticket: string): string {
  return `${baseUrl}${LOGIN}?${new URLSearchParams({ ticket }).toString()}`;
}
