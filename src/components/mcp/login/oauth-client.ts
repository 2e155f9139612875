import type { AddClientAuthentication, FetchLike } from "@modelcontextprotocol/client";
import { errorMessage } from "../../../core/errors.ts";
import { asJson, type JsonObject } from "../../../core/json.ts";
import { type OutgoingDependencies, Secrets } from "../../../outgoing/dependencies.ts";
import { isLoopbackHost } from "../../../outgoing/public-hosts.ts";
import { authenticateClient } from "../connection/authentication.ts";
import { serverFetch } from "../connection/server-fetch.ts";
import { McpError, mcpError } from "../answers/mcp-error.ts";
import { type ClientForm, type Grant, GrantProvider } from "./grant-provider.ts";
import { issuerOf, requirePkce, revokeTokens } from "./authorization-server.ts";

/** A request for tokens of a server. */
export interface TokensWanted {
  /** The form of this service at an authorization server; null for clients that an operator has registered. */
  forms: (issuer: string | null) => Promise<ClientForm>;
  server: string;
  /** False if the server has not said its wants yet. Then it is asked first. */
  asked: boolean;
  scope: string | null;
  resourceMetadata: string | null;
  /** True if a new login is needed, even if the grant could be renewed. */
  login: boolean;
}

/** The way back of a human who has logged in. */
export interface LoginReturn extends ClientForm {
  server: string;
  code: string | null;
  iss: string | null;
  /** The error code of the authorization server, instead of a code. */
  error: string | null;
}

/** A login that a human has to make. */
export interface BegunLogin {
  /** The address of the authorization endpoint, without `state`. */
  url: string;
  /** The identifier of the authorization server. */
  issuer: string;
  /** True if an operator has registered the client. */
  shared: boolean;
}

/** OAuth for the logins of tenants, by the SDK's functions. A grant is read and never changed: the answer has the next one. */
export class OAuthClient {
  readonly #dependencies: OutgoingDependencies;

  constructor(dependencies: OutgoingDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Renews the tokens of a grant by its refresh token. `login` is where a human has to log in when that is not possible.
   *
   * @throws TroupeError when neither is possible; retryable where the authorization server cannot be reached
   */
  async tokens(
    stored: JsonObject,
    wanted: TokensWanted,
  ): Promise<{ grant: JsonObject; login: BegunLogin | null }> {
    const { auth, computeScopeUnion, discoverOAuthServerInfo } =
      await import("../connection/sdk.ts");
    let grant = stored as Grant;
    const { server, forms } = wanted;
    const requests = this.#requests(server, grant);
    return this.#named(server, grant, async () => {
      const asked = wanted.asked ? wanted : await ask(wanted, requests.fetch);
      const metadata = asked.resourceMetadata ?? grant.discovery?.resourceMetadataUrl;
      const found = await discoverOAuthServerInfo(server, {
        fetchFn: requests.fetch,
        ...(metadata !== undefined && { resourceMetadataUrl: new URL(metadata) }),
      });
      const discovery = {
        ...found,
        ...(metadata !== undefined && { resourceMetadataUrl: metadata }),
      };
      grant = { ...grant, discovery };
      const issuer = issuerOf(discovery);
      const shared = grant.registered !== undefined;
      const form = await forms(shared ? null : issuer);
      const authenticate = this.#authenticate(grant);
      const options = { serverUrl: server, fetchFn: requests.fetch };
      if (!wanted.login && grant.tokens?.refresh_token !== undefined) {
        const provider = new GrantProvider(grant, form, { purpose: "renew", authenticate });
        const result = await auth(provider, options).catch((error: unknown) => {
          // When the refresh token is refused, the SDK begins a login, and its error there does not name the server.
          requirePkce(discovery, grant.registered);
          throw error;
        });
        if (result === "AUTHORIZED") {
          return { grant: asJson(provider.grant) as JsonObject, login: null };
        }
        if (requests.unanswered) throw requests.unanswered;
        ({ grant } = provider);
      }
      requirePkce(discovery, grant.registered);
      // A login for more scopes keeps those that there are.
      const scope = wanted.login
        ? computeScopeUnion(grant.tokens?.scope, asked.scope ?? undefined)
        : (asked.scope ?? undefined);
      const provider = new GrantProvider(grant, form, {
        purpose: "login",
        authenticate,
        ...(wanted.login && { scope }),
      });
      await auth(provider, {
        ...options,
        forceReauthorization: true,
        ...(scope !== undefined && { scope }),
      });
      if (requests.unanswered) throw requests.unanswered;
      const url = checkedUrl(provider.authorizationUrl);
      return { grant: asJson(provider.grant) as JsonObject, login: { url, issuer, shared } };
    });
  }

  /** Redeems the code of a login. @throws TroupeError when the way back or the code is not accepted */
  async redeem(stored: JsonObject, back: LoginReturn): Promise<JsonObject> {
    const grant = stored as Grant;
    const sdk = await import("../connection/sdk.ts");
    const { server, code, iss, error } = back;
    const authenticate = this.#authenticate(grant);
    const provider = new GrantProvider(grant, back, { purpose: "redeem", authenticate });
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

  /** Has the authorization server revoke the tokens of a grant, if it does that. Never rejects. */
  async revoke(server: string, stored: JsonObject): Promise<void> {
    const grant = stored as Grant;
    const { fetch } = this.#requests(server, grant);
    await revokeTokens(grant, fetch, this.#authenticate(grant)).catch(() => undefined);
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
      run: undefined,
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

/** Asks a server for its challenge, by a request without a token. */
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
