import type {
  AddClientAuthentication,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { McpError } from "../answers/mcp-error.ts";

/** A client that the authorization server knows already. */
export interface RegisteredClient {
  client_id: string;
  /** May be `env:NAME` of a secret. */
  client_secret?: string | undefined;
  /** The authorization server that has registered it. The client is named to no other one. */
  issuer?: string | undefined;
}

/** The stored parts of the login at a server. All of it is secret. */
export interface Grant {
  registered?: RegisteredClient | undefined;
  /** As the authorization server has registered it, or the address of its metadata. */
  client?: (StoredOAuthClientInformation & { redirect_uri?: string }) | undefined;
  tokens?: (StoredOAuthTokens & { expires_at?: number }) | undefined;
  discovery?: OAuthDiscoveryState | undefined;
  /** The PKCE verifier of a login that has begun, and the scopes that it asks for. */
  verifier?: string | undefined;
  asked_scope?: string | undefined;
}

/** This service as a client of an authorization server. */
export interface ClientForm {
  /** The address to which the human's browser comes back. */
  redirectUrl: string;
  /** The address of the client's metadata. */
  clientMetadataUrl: string;
  /** The client's metadata, for a registration. */
  clientMetadata: OAuthClientMetadata;
}

/**
 * The purpose of a call of the SDK. `renew`: new tokens by the refresh token, with the client that has it; `login`: the
 * address where a human logs in; `redeem`: tokens for the code that the human has brought back.
 */
type Purpose = "renew" | "login" | "redeem";

/** The SDK's port to a grant: reads and changes it in memory. */
export class GrantProvider implements OAuthClientProvider {
  readonly grant: Grant;
  readonly clientMetadataUrl?: string;
  /** Undefined for a registered client, which must not be registered again. */
  readonly saveClientInformation?: (client: StoredOAuthClientInformation) => void;
  readonly addClientAuthentication?: AddClientAuthentication;
  /** The page at which a human has to log in. */
  authorizationUrl: URL | undefined;
  readonly #form: ClientForm;
  readonly #purpose: Purpose;
  readonly #scope: string | undefined;
  #redeemed = false;

  /** @param grant with what was discovered of the authorization server */
  constructor(
    grant: Grant,
    form: ClientForm,
    {
      purpose,
      authenticate,
      scope,
    }: {
      purpose: Purpose;
      authenticate?: AddClientAuthentication | undefined;
      /** The scopes that a login asks for. */
      scope?: string | undefined;
    },
  ) {
    this.grant = { ...grant };
    this.#form = form;
    this.#purpose = purpose;
    this.#scope = scope;
    if (authenticate) this.addClientAuthentication = authenticate;
    if (grant.registered !== undefined) return;
    if (form.clientMetadataUrl.startsWith("https:"))
      this.clientMetadataUrl = form.clientMetadataUrl;
    this.saveClientInformation = (client) => {
      this.grant.client = { ...client, redirect_uri: form.redirectUrl };
    };
  }

  get redirectUrl(): string {
    return this.#form.redirectUrl;
  }

  get clientMetadata(): OAuthClientMetadata {
    return this.#form.clientMetadata;
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    const { registered, client } = this.grant;
    if (registered !== undefined) {
      const { client_id, client_secret, issuer } = registered;
      return {
        client_id,
        ...(client_secret !== undefined && { client_secret }),
        ...(issuer !== undefined && { issuer }),
      };
    }
    if (this.#purpose === "renew") return client;
    // A client that was registered for another address of this service cannot come back to this one, and one that was
    // registered for some scopes may not ask for others.
    const { scope } = (client ?? {}) as { scope?: string };
    const registeredFor = new Set(scope?.split(" "));
    const asked = scope === undefined ? [] : (this.#scope?.split(" ") ?? []);
    const isRegistered = asked.every((one) => registeredFor.has(one));
    return isRegistered && client?.redirect_uri === this.#form.redirectUrl ? client : undefined;
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.grant.tokens;
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    const { tokens: before, asked_scope } = this.grant;
    const kept = before?.issuer === tokens.issuer ? before : undefined;
    const scope = tokens.scope ?? (this.#purpose === "redeem" ? asked_scope : kept?.scope);
    const refresh_token =
      tokens.refresh_token ?? (this.#purpose === "redeem" ? undefined : kept?.refresh_token);
    const { expires_in } = tokens;
    this.grant.tokens = {
      ...tokens,
      ...(scope !== undefined && { scope }),
      ...(refresh_token !== undefined && { refresh_token }),
      ...(expires_in !== undefined && { expires_at: Date.now() + expires_in * 1000 }),
    };
  }

  redirectToAuthorization(url: URL): void {
    this.authorizationUrl = url;
    this.grant.asked_scope = url.searchParams.get("scope") ?? undefined;
  }

  saveCodeVerifier(verifier: string): void {
    this.grant.verifier = verifier;
  }

  /** @throws McpError when it is asked for a second time: the SDK would send the code again that was refused */
  codeVerifier(): string {
    if (this.#redeemed || this.grant.verifier === undefined) {
      throw new McpError("mcp_refused", "The authorization server refused the code of the login.");
    }
    this.#redeemed = true;
    return this.grant.verifier;
  }

  saveDiscoveryState(discovery: OAuthDiscoveryState): void {
    this.grant.discovery = discovery;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.grant.discovery;
  }

  invalidateCredentials(kind: "all" | "client" | "tokens" | "verifier" | "discovery"): void {
    if (kind === "client" || kind === "all") this.grant.client = undefined;
    if (kind === "tokens" || kind === "all") this.grant.tokens = undefined;
  }
}
