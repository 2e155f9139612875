import { oauthClientAddresses, oauthClientMetadata } from "#contract/tenant/oauth-client.ts";
import type { ClientForm } from "#components/mcp/login/grant-provider.ts";
import { OAuthClient } from "#components/mcp/login/oauth-client.ts";
import type { JsonObject, McpDependencies } from "troupe";
import type {
  HeldLogin,
  LoginAnswer,
  LoginChallenge,
  ServerLogins,
} from "#core/steps/server-logins.ts";

/** The logins of a tenant in memory, and a human who opens the address: the authorization server sends the browser back at once. */
export class TestLogins implements ServerLogins {
  readonly user = null;
  /** How many logins were begun. */
  begun = 0;
  readonly #oauth: OAuthClient;
  readonly #form: ClientForm;
  #grant: JsonObject;
  #pending: { server: string; grant: JsonObject } | undefined;

  /** @param registered a client that the authorization server knows */
  constructor(
    { clientMetadataUrl, registered }: { clientMetadataUrl: string; registered?: JsonObject },
    dependencies: McpDependencies = {},
  ) {
    this.#oauth = new OAuthClient(dependencies);
    const { redirectUrl } = oauthClientAddresses("http://127.0.0.1:8787", null);
    const clientMetadata = oauthClientMetadata(redirectUrl);
    this.#form = { redirectUrl, clientMetadataUrl, clientMetadata };
    this.#grant = registered ? { registered } : {};
  }

  async held(): Promise<HeldLogin | undefined> {
    const tokens = this.#grant["tokens"] as { access_token: string } | undefined;
    return tokens && { token: tokens.access_token, login: "1" };
  }

  async token(challenge: LoginChallenge): Promise<LoginAnswer> {
    const { server, scope, resourceMetadata, rejected, fresh, insufficient } = challenge;
    const held = await this.held();
    if (held !== undefined && held.token !== rejected) return { ...held, fresh: false };
    const { grant, login } = await this.#oauth.tokens(this.#grant, {
      forms: () => Promise.resolve(this.#form),
      server,
      asked: true,
      scope,
      resourceMetadata,
      login: insufficient || (fresh && rejected !== null),
    });
    const { verifier: _, asked_scope: __, ...lasting } = grant;
    this.#grant = lasting;
    if (login === null) {
      const { access_token } = lasting["tokens"] as { access_token: string };
      return { token: access_token, login: "1", fresh: true };
    }
    this.begun++;
    this.#pending = { server, grant };
    return { needed: { url: login.url } };
  }

  /** Opens the address of a login and comes back from it. */
  async logIn(url: string): Promise<void> {
    const response = await fetch(url, { redirect: "manual" });
    const back = new URL(response.headers.get("location") ?? "", url).searchParams;
    if (this.#pending === undefined) throw new TypeError("no login was begun");
    const { server, grant } = this.#pending;
    this.#grant = await this.#oauth.redeem(grant, {
      ...this.#form,
      server,
      code: back.get("code"),
      iss: back.get("iss"),
      error: back.get("error"),
    });
  }
}
