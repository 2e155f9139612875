import type {
  AddClientAuthentication,
  FetchLike,
  OAuthDiscoveryState,
} from "@modelcontextprotocol/client";
import { McpError } from "../answers/mcp-error.ts";
import type { Grant, RegisteredClient } from "./grant-provider.ts";

/** The identifier of an authorization server: that of its metadata, or the address of a server without any. */
export function issuerOf({
  authorizationServerMetadata: metadata,
  authorizationServerUrl: url,
}: OAuthDiscoveryState): string {
  return metadata?.issuer ?? url;
}

/**
 * Refuses a login that cannot be made safely. The code must be bound to who began the login (PKCE with S256), and the
 * answer of a server must not pass for that of another one: clients that an operator has registered come back to one
 * address, so that the server has to name itself (RFC 9207), or the operator.
 *
 * @throws McpError
 */
export function requirePkce(
  discovery: OAuthDiscoveryState,
  registered: RegisteredClient | undefined,
): void {
  const { authorizationServerMetadata: metadata } = discovery;
  const issuer = issuerOf(discovery);
  // A server without metadata cannot say what it supports (the first version of MCP's authorization).
  if (metadata === undefined) return;
  const methods = metadata.code_challenge_methods_supported;
  if (methods?.includes("S256") !== true) {
    const named =
      methods === undefined || methods.length === 0 ? "names none" : `names ${methods.join(", ")}`;
    throw new McpError(
      "mcp_refused",
      `The authorization server ${issuer} does not support PKCE with S256, without which logins are not safe: code_challenge_methods_supported of its metadata ${named}.`,
    );
  }
  const names = metadata.authorization_response_iss_parameter_supported === true;
  if (registered === undefined || registered.issuer !== undefined || names) return;
  throw new McpError(
    "mcp_refused",
    `The authorization server ${issuer} does not say in its answers that they are its own (authorization_response_iss_parameter_supported). Begin the login with "issuer": "${issuer}" beside client_id, if this is the server that knows the client.`,
  );
}

/** Revokes the refresh token, and the access token (RFC 7009). @throws what the requests throw */
export async function revokeTokens(
  { discovery, tokens, registered, client }: Grant,
  send: FetchLike,
  authenticate: AddClientAuthentication | undefined,
): Promise<void> {
  const { authorizationServerMetadata: metadata } = discovery ?? {};
  const endpoint =
    metadata && "revocation_endpoint" in metadata ? metadata.revocation_endpoint : undefined;
  if (tokens === undefined || typeof endpoint !== "string") return;
  for (const [type, token] of [
    ["refresh_token", tokens.refresh_token],
    ["access_token", tokens.access_token],
  ] as const) {
    if (token === undefined) continue;
    const headers = new Headers({ "content-type": "application/x-www-form-urlencoded" });
    const body = new URLSearchParams({ token, token_type_hint: type });
    if (authenticate) await authenticate(headers, body, endpoint, metadata);
    else identify(registered ?? client, headers, body);
    const init = { method: "POST", headers, body: body.toString() };
    // A server that refuses one of them may take the other.
    const response = await send(endpoint, init).catch(() => undefined);
    await response?.body?.cancel();
  }
}

/** Says who the client is, as the authorization server has registered it. */
function identify(
  client:
    | { client_id: string; client_secret?: string; token_endpoint_auth_method?: string }
    | undefined,
  headers: Headers,
  body: URLSearchParams,
): void {
  const { client_id = "", client_secret, token_endpoint_auth_method: method } = client ?? {};
  if (client_secret !== undefined && method === "client_secret_basic") {
    const pair = `${encodeURIComponent(client_id)}:${encodeURIComponent(client_secret)}`;
    headers.set("authorization", `Basic ${btoa(pair)}`);
    return;
  }
  body.set("client_id", client_id);
  if (client_secret !== undefined) body.set("client_secret", client_secret);
}
