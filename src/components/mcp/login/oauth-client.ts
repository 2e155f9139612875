import type { AddClientAuthentication, FetchLike } from "@modelcontextprotocol/client";
import { errorMessage } from "../../../core/errors.ts";
import { asJson, type JsonObject } from "../../../core/json.ts";
import { type OutgoingDependencies, Secrets } from "../../../outgoing/dependencies.ts";
import { isLoopbackHost } from "../../../outgoing/public-hosts.ts";
import { authenticateClient } from "../connection/authentication.ts";
import { serverFetch } from "../connection/server-fetch.ts";
import { McpError, mcpError } from "../mcp-error.ts";
import { type Grant, GrantProvider, type LoginForm } from "./grant-provider.ts";

/** A request for tokens of a server. */
export interface TokensWanted extends LoginForm {
  server: string;
  /** Whether the server has said what it wants. Otherwise it is asked first. */
  asked: boolean;
  scope: string | null;
  resourceMetadata: string | null;
  /** Whether a new login is needed, even if the grant could be renewed. */
  login: boolean;
}

/** The way back of a human who has logged in. */
export interface LoginReturn extends LoginForm {
  server: string;
  code: string | null;
  iss: string | null;
  /** The error code of the authorization server, instead of a code. */
  error: string | null;
}

/** OAuth for the logins of tenants, by the SDK's functions. A grant is read and never changed: the answer has the next one. */
export class OAuthClient {
  readonly #dependencies: OutgoingDependencies;

  constructor(dependencies: OutgoingDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Renews the tokens of a grant by its refresh token. `url` is where a human has to log in when that is not possible.
   *
   * @throws TroupeError when neither is possible; retryable where the authorization server cannot be reached
   */
  async tokens(
    stored: JsonObject,
    wanted: TokensWanted,
  ): Promise<{ grant: JsonObject; url: string | null }> {
    const grant = stored as Grant;
    const { auth, computeScopeUnion } = await import("../connection/sdk.ts");
    const requests = this.#requests(wanted.server, grant);
    return this.#named(wanted.server, grant, async () => {
      const asked = wanted.asked ? wanted : await ask(wanted, requests.fetch);
      const known = grant.discovery?.resourceMetadataUrl;
      const metadata = asked.resourceMetadata ?? known;
      // A login for more scopes keeps those that there are.
      const scope = wanted.login
        ? computeScopeUnion(grant.tokens?.scope, asked.scope ?? undefined)
        : (asked.scope ?? undefined);
      const authenticate = this.#authenticate(grant);
      const options = { authenticate, ...(wanted.login && { scope }) };
      const provider = new GrantProvider(grant, wanted, options);
      const result = await auth(provider, {
        serverUrl: wanted.server,
        fetchFn: requests.fetch,
        forceReauthorization: wanted.login,
        ...(scope !== undefined && { scope }),
        ...(metadata !== undefined && { resourceMetadataUrl: new URL(metadata) }),
      });
      if (result === "AUTHORIZED")
        return { grant: asJson(provider.grant) as JsonObject, url: null };
      if (requests.unanswered) throw requests.unanswered;
      const url = checkedUrl(provider.authorizationUrl);
      return { grant: asJson(provider.grant) as JsonObject, url };
    });
  }

  /** Redeems the code of a login. @throws TroupeError when the way back or the code is not accepted */
  async redeem(stored: JsonObject, back: LoginReturn): Promise<JsonObject> {
    const grant = stored as Grant;
    const sdk = await import("../connection/sdk.ts");
    const { server, code, iss, error } = back;
    const authenticate = this.#authenticate(grant);
    const provider = new GrantProvider(grant, back, { continues: true, authenticate });
    return this.#named(server, grant, async () => {
      const metadata = grant.discovery?.authorizationServerMetadata;
      try {
        // Also before an error is believed.
        sdk.validateAuthorizationResponseIssuer({
          iss: iss ?? undefined,
          expectedIssuer: metadata?.issuer,
          issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
        });
      } catch (cause) {
        // The error of the SDK repeats what came with the browser.
        throw new ForeignAnswerError(cause);
      }
      if (code === null) throw refusedLogin(error);
      await sdk.auth(provider, {
        serverUrl: server,
        authorizationCode: code,
        fetchFn: this.#requests(server, grant).fetch,
        ...(iss !== null && { iss }),
      });
      const { verifier: _, asked_scope: __, ...kept } = provider.grant;
      return asJson(kept) as JsonObject;
    });
  }

  /** Only for a client with a secret of the operator: the SDK authenticates the others as they were registered. */
  #authenticate({ registered }: Grant): AddClientAuthentication | undefined {
    if (registered?.client_secret === undefined) return undefined;
    return authenticateClient(registered.client_id, registered.client_secret, this.#dependencies);
  }

  #requests(server: string, grant: Grant) {
    const { origin } = new URL(server);
    const fetch = serverFetch({
      dependencies: this.#dependencies,
      origin,
      issuer: undefined,
      headers: {},
      secrets: new Secrets(this.#dependencies, origin, grant),
      onExcess: () => undefined,
      onLost: () => undefined,
    });
    const requests: { unanswered: McpError | undefined; fetch: FetchLike } = {
      unanswered: undefined,
      fetch: async (url, init) => {
        try {
          const response = await fetch(url, init);
          if (!BUSY.has(response.status)) return response;
          throw new TypeError(`HTTP ${response.status}`);
        } catch (error) {
          const { host } = new URL(url);
          const text = `"${host}" cannot be reached: ${errorMessage(error)}`;
          requests.unanswered = new McpError("mcp_connection", text);
          // The SDK takes other errors for an answer: that there is no metadata, or that the refresh token is no longer valid.
          throw new TypeError(text, { cause: error });
        }
      },
    };
    return requests;
  }

  /** The SDK's errors in this library's form. */
  async #named<T>(server: string, grant: Grant, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      const { host, origin } = new URL(server);
      throw mcpError(error, host, new Secrets(this.#dependencies, origin, grant));
    }
  }
}

/** The answer to a login does not come from the authorization server at which it was begun (RFC 9207). */
class ForeignAnswerError extends McpError {
  constructor(cause: unknown) {
    super(
      "mcp_refused",
      "The answer does not come from the authorization server at which the login was begun.",
    );
    this.cause = cause;
  }
}

/** A request that has no effect. */
const PING = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "ping" });

/** What a server wants of a request without a token. */
async function ask(
  { server, scope }: Pick<TokensWanted, "server" | "scope">,
  send: FetchLike,
): Promise<Pick<TokensWanted, "scope" | "resourceMetadata">> {
  const { extractWWWAuthenticateParams } = await import("../connection/sdk.ts");
  const accept = "application/json, text/event-stream";
  const headers = { accept, "content-type": "application/json" };
  const response = await send(server, { method: "POST", headers, body: PING });
  await response.body?.cancel();
  const asked = extractWWWAuthenticateParams(response);
  return {
    scope: scope ?? asked.scope ?? null,
    resourceMetadata: asked.resourceMetadataUrl?.href ?? null,
  };
}

/** Statuses of a server that answers later. */
const BUSY: ReadonlySet<number> = new Set([429, 503, 504]);

/** A browser opens it: another scheme could be a script. @throws McpError */
function checkedUrl(url: URL | undefined): string {
  const secure = url?.protocol === "https:";
  const local = url?.protocol === "http:" && isLoopbackHost(url.hostname);
  if (url !== undefined && (secure || local)) return url.href;
  const message = "The authorization endpoint of the authorization server is not an https:// URL.";
  throw new McpError("mcp_protocol", message);
}

/** Errors of RFC 6749, 4.1.2.1. The text that comes with one is anybody's. */
function refusedLogin(error: string | null): McpError {
  const code = error !== null && /^[a-z_]{1,40}$/.test(error) ? error : "no code";
  return new McpError("mcp_refused", `The authorization server ended the login: ${code}.`);
}
