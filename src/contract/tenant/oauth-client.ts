/** The paths, below the address of the service, that logins at MCP servers use. */
const CALLBACK = "/v1/connections/callback";
const CLIENT_METADATA = "/v1/connections/client.json";

/** The addresses of a service as a client of OAuth. */
export interface OAuthClientAddresses {
  /** Where the browser of a human comes back to. */
  redirectUrl: string;
  /** The address of the client's metadata, which is its id at authorization servers that read it. */
  clientMetadataUrl: string;
}

/** @param baseUrl the address at which browsers reach the service */
export function oauthClientAddresses(baseUrl: string): OAuthClientAddresses {
  return { redirectUrl: baseUrl + CALLBACK, clientMetadataUrl: baseUrl + CLIENT_METADATA };
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
