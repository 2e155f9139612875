import type { ClientCredentialsProvider, OAuthClientProvider } from "@modelcontextprotocol/client";
import { type OutgoingDependencies, Secrets } from "../../../outgoing/dependencies.ts";
import type { ClientCredentials } from "../server-params.ts";

/**
 * Gets access tokens by the OAuth client credentials grant, with the SDK's provider. The client's secret goes to the token endpoint
 * of the configured issuer only, whichever the MCP server names, and only if it may be sent there.
 *
 * @param remember gets what has to be redacted
 */
export function clientCredentials(
  Provider: typeof ClientCredentialsProvider,
  given: ClientCredentials,
  dependencies: OutgoingDependencies,
  remember: (secret: string) => void,
): OAuthClientProvider {
  const { client_id: id, scope } = given;
  const provider: OAuthClientProvider = new Provider({
    clientId: id,
    // Looked up for each request, when its destination is known.
    clientSecret: "",
    clientName: "troupe",
    expectedIssuer: given.issuer,
    ...(scope != null && { scope }),
  });
  const save = provider.saveTokens.bind(provider);
  provider.saveTokens = (tokens) => {
    remember(tokens.access_token);
    return save(tokens);
  };
  provider.addClientAuthentication = (headers, params, url, metadata) => {
    const secret = new Secrets(dependencies, String(url), given).resolve(given.client_secret);
    remember(secret);
    // RFC 8414: a server that names no methods takes the header.
    const methods = metadata?.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    if (methods.includes("client_secret_basic")) {
      const pair = btoa(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`);
      remember(pair);
      headers.set("authorization", `Basic ${pair}`);
    } else {
      params.set("client_id", id);
      params.set("client_secret", secret);
    }
  };
  return provider;
}
