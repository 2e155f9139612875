import { oauthClientMetadata } from "#contract/tenant/oauth-client.ts";
import { OAuthClient } from "#components/mcp/login/oauth-client.ts";
import type { JsonObject, McpDependencies } from "troupe";
import type { LoginAnswer, LoginChallenge, ServerLogins } from "#core/steps/server-logins.ts";

/** The logins of a tenant in memory, and a human who opens the address: the authorization server sends the browser back at once. */
export class TestLogins implements ServerLogins {
  /** How many logins were begun. */
  begun = 0;
  readonly #oauth: OAuthClient;
  readonly #form: { redirectUrl: string; clientMetadataUrl: string; state: string };
  #grant: JsonObject;
  #pending: { server: string; grant: JsonObject } | undefined;

  /** @param registered a client that the authorization server knows */
  constructor(
    { clientMetadataUrl, registered }: { clientMetadataUrl: string; registered?: JsonObject },
    dependencies: McpDependencies = {},
  ) {
    this.#oauth = new OAuthClient(dependencies);
    const redirectUrl = "http://127.0.0.1:8787/v1/connections/callback";
    this.#form = { redirectUrl, clientMetadataUrl, state: "tenant.state" };
    this.#grant = registered ? { registered } : {};
  }

  async token(challenge: LoginChallenge): Promise<LoginAnswer> {
    const { server, scope, resourceMetadata, rejected, fresh, insufficient } = challenge;
    const tokens = this.#grant["tokens"] as { access_token: string } | undefined;
    if (tokens !== undefined && tokens.access_token !== rejected) {
      return { token: tokens.access_token, fresh: false };
    }
    const { grant, url } = await this.#oauth.tokens(this.#grant, {
      ...this.#form,
      clientMetadata: oauthClientMetadata(this.#form.redirectUrl),
      server,
      asked: true,
      scope,
      resourceMetadata,
      login: insufficient || (fresh && rejected !== null),
    });
    const { verifier: _, asked_scope: __, ...lasting } = grant;
    this.#grant = lasting;
    if (url === null) {
      const { access_token } = lasting["tokens"] as { access_token: string };
      return { token: access_token, fresh: true };
    }
    this.begun++;
    this.#pending = { server, grant };
    return { login: { url } };
  }

  /** Opens the address of a login and comes back from it. */
  async logIn(url: string): Promise<void> {
    const response = await fetch(url, { redirect: "manual" });
    const back = new URL(response.headers.get("location") ?? "", url).searchParams;
    if (this.#pending === undefined) throw new TypeError("no login was begun");
    const { server, grant } = this.#pending;
    this.#grant = await this.#oauth.redeem(grant, {
      ...this.#form,
      clientMetadata: oauthClientMetadata(this.#form.redirectUrl),
      server,
      code: back.get("code"),
      iss: back.get("iss"),
      error: back.get("error"),
    });
  }
}
