import {
  type AddClientAuthentication,
  ClientCredentialsProvider,
  type StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { type OutgoingDependencies, Secrets } from "../outgoing/dependencies.ts";
import type { ClientCredentials } from "./server-params.ts";

/**
 * Gets access tokens by the OAuth client credentials grant, with the SDK. The client's secret goes to the token endpoint of the
 * configured issuer only, whichever the MCP server names.
 */
export class OAuthClientCredentials extends ClientCredentialsProvider {
  readonly #given: ClientCredentials;
  readonly #dependencies: OutgoingDependencies;
  /** Gets what has to be redacted. */
  readonly #remember: (secret: string) => void;

  /**
   * Called by the SDK without its object.
   *
   * @throws TroupeError when the secret does not exist or must not be sent to the token endpoint
   */
  readonly addClientAuthentication: AddClientAuthentication = (headers, params, url, metadata) => {
    const { client_id: id, client_secret: given } = this.#given;
    const secret = new Secrets(this.#dependencies, String(url)).resolve(given);
    this.#remember(secret);
    // RFC 8414: a server that names no methods takes the header.
    const methods = metadata?.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    if (methods.includes("client_secret_basic")) {
      const pair = btoa(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`);
      this.#remember(pair);
      headers.set("authorization", `Basic ${pair}`);
    } else {
      params.set("client_id", id);
      params.set("client_secret", secret);
    }
  };

  constructor(
    given: ClientCredentials,
    dependencies: OutgoingDependencies,
    remember: (secret: string) => void,
  ) {
    super({
      clientId: given.client_id,
      // Looked up for each request, see below.
      clientSecret: "",
      clientName: "troupe",
      expectedIssuer: given.issuer,
      ...(given.scope != null && { scope: given.scope }),
    });
    this.#given = given;
    this.#dependencies = dependencies;
    this.#remember = remember;
  }

  override saveTokens(tokens: StoredOAuthTokens): void {
    this.#remember(tokens.access_token);
    super.saveTokens(tokens);
  }
}
