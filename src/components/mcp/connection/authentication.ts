import type {
  AddClientAuthentication,
  AuthProvider,
  OAuthClientProvider,
} from "@modelcontextprotocol/client";
import { type OutgoingDependencies, Secrets } from "../../../outgoing/dependencies.ts";
import type { ClientCredentials, McpServerConfig } from "./server-params.ts";
import { challengeIn } from "./challenge.ts";

/**
 * The source of a server's access tokens: the client credentials in the config, or a login that a human has made.
 * Undefined for programs, and if the config has a header for it.
 *
 * @param session gives the token of the login, and gets what has to be redacted
 */
export async function authentication(
  params: McpServerConfig,
  dependencies: OutgoingDependencies,
  session: { token: () => string | undefined; remember: (secret: string) => void },
): Promise<OAuthClientProvider | AuthProvider | undefined> {
  if (params.type === "StdioServerParams") return undefined;
  const { oauth, headers } = params;
  if (oauth) return clientCredentials(oauth, dependencies, session.remember);
  const names = Object.keys(headers ?? {});
  if (names.some((name) => name.toLowerCase() === "authorization")) return undefined;
  const { extractWWWAuthenticateParams } = await import("./sdk.ts");
  return {
    token: () => Promise.resolve(session.token()),
    onUnauthorized: ({ response }) =>
      Promise.reject(challengeIn(response, extractWWWAuthenticateParams)),
  };
}

/**
 * Gets access tokens by the OAuth client credentials grant, with the SDK's provider. The client's secret goes to the token endpoint
 * of the configured issuer only, whichever the MCP server names, and only if it may be sent there. A private key is not sent: it
 * signs who the client is.
 *
 * @param remember gets what has to be redacted
 */
async function clientCredentials(
  given: ClientCredentials,
  dependencies: OutgoingDependencies,
  remember: (secret: string) => void,
): Promise<OAuthClientProvider> {
  const { ClientCredentialsProvider } = await import("./sdk.ts");
  const { client_id: id, client_secret: secret, scope } = given;
  const provider: OAuthClientProvider = new ClientCredentialsProvider({
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
  provider.addClientAuthentication =
    secret == null
      ? signedAuthentication(given, dependencies)
      : authenticateClient(id, secret, dependencies, remember);
  return provider;
}

/** Says to a token endpoint who the client is, by a signature (RFC 7523). */
function signedAuthentication(
  { client_id: id, private_key, signing_algorithm }: ClientCredentials,
  dependencies: OutgoingDependencies,
): AddClientAuthentication {
  return async (headers, params, url, metadata) => {
    const { createPrivateKeyJwtAuth } = await import("./sdk.ts");
    const key = new Secrets(dependencies, String(url), {}).resolve(private_key ?? "");
    const sign = createPrivateKeyJwtAuth({
      issuer: id,
      subject: id,
      // A variable of an environment often has no line breaks.
      privateKey: key.replaceAll("\\n", "\n"),
      alg: signing_algorithm ?? "RS256",
    });
    return sign(headers, params, url, metadata);
  };
}

/**
 * Says to a token endpoint who the client is, by its secret.
 *
 * @param input the secret or `env:NAME`, looked up for each request, when its destination is known
 */
export function authenticateClient(
  id: string,
  input: string,
  dependencies: OutgoingDependencies,
  remember: (secret: string) => void = () => undefined,
): AddClientAuthentication {
  return (headers, params, url, metadata) => {
    const secret = new Secrets(dependencies, String(url), {}).resolve(input);
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
}
