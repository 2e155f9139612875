import { randomUUID } from "node:crypto";
import type { JsonObject } from "troupe";
import { EchoServer, type SeenRequest } from "../../../support/echo-server.ts";
import { type Kind, TestMcpServer } from "./test-server.ts";

const JSON_TYPE = { "content-type": "application/json" };

export interface LoginServerOptions {
  kind?: Kind;
  /** Changes of the metadata of the authorization server; undefined removes a field. */
  metadata?: (issuer: string) => Record<string, unknown>;
}

/** An MCP server that needs a login, and its authorization server: any client registers, and whoever opens the address is logged in. */
export class LoginServer implements AsyncDisposable {
  readonly mcp: TestMcpServer;
  /** Who logs in next. */
  person = "someone";
  /** What the answers to logins name as the issuer. */
  iss: string | undefined;
  /** The metadata of clients that have registered. */
  readonly clients: JsonObject[] = [];
  /** Tokens that were revoked. */
  readonly revoked: string[] = [];
  /** Bodies of requests for tokens. */
  readonly asked: URLSearchParams[] = [];
  readonly #issuer: EchoServer;
  readonly #metadata: NonNullable<LoginServerOptions["metadata"]>;
  readonly #codes = new Map<string, string>();
  readonly #tokens = new Map<string, string>();

  private constructor(mcp: TestMcpServer, issuer: EchoServer, metadata = () => ({})) {
    this.mcp = mcp;
    this.#issuer = issuer;
    this.#metadata = metadata;
    mcp.guard = {
      issuer: this.issuer,
      scope: "tools",
      lacks: (token) => (this.#tokens.has(token) ? null : "token"),
    };
  }

  static async start({ kind, metadata }: LoginServerOptions = {}): Promise<LoginServer> {
    let server: LoginServer | undefined = undefined;
    const issuer = await EchoServer.start((response, request) => {
      const [status, answer] = (server as LoginServer).#answer(request);
      response.writeHead(status, typeof answer === "string" ? { location: answer } : JSON_TYPE);
      response.end(typeof answer === "string" ? undefined : JSON.stringify(answer));
    });
    const made = metadata && (() => metadata(`http://127.0.0.1:${issuer.port}`));
    server = new LoginServer(await TestMcpServer.start(kind), issuer, made);
    return server;
  }

  /** The address of the authorization server. */
  get issuer(): string {
    return `http://127.0.0.1:${this.#issuer.port}`;
  }

  /** As whom the server was asked, in the order of the requests, each once in a row. */
  get seen(): string[] {
    const people = this.mcp.headers.flatMap(
      ({ authorization = "" }) => this.#tokens.get(authorization.slice("Bearer ".length)) ?? [],
    );
    return people.filter((person, n) => n === 0 || person !== people[n - 1]);
  }

  /** The tokens that it has given out. */
  get tokens(): string[] {
    return [...this.#tokens.keys()];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.mcp[Symbol.asyncDispose]();
    await this.#issuer[Symbol.asyncDispose]();
  }

  /** The status, and a JSON object or the address that it leads to. */
  #answer({ path, body }: SeenRequest): [number, object | string] {
    const { pathname, searchParams: asked } = new URL(path, this.issuer);
    if (pathname === "/.well-known/oauth-authorization-server") {
      return [
        200,
        {
          issuer: this.issuer,
          authorization_endpoint: `${this.issuer}/authorize`,
          token_endpoint: `${this.issuer}/token`,
          registration_endpoint: `${this.issuer}/register`,
          response_types_supported: ["code"],
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none", "client_secret_post"],
          ...this.#metadata(this.issuer),
        },
      ];
    }
    if (pathname === "/register") {
      const client = JSON.parse(body) as JsonObject;
      this.clients.push(client);
      return [201, { ...client, client_id: "registered" }];
    }
    if (pathname === "/authorize") {
      const code = randomUUID();
      this.#codes.set(code, this.person);
      const location = new URL(asked.get("redirect_uri") ?? "");
      const state = asked.get("state") ?? "";
      const query = new URLSearchParams({ code, state });
      if (this.iss !== undefined) query.set("iss", this.iss);
      location.search = query.toString();
      return [302, location.href];
    }
    const given = new URLSearchParams(body);
    if (pathname === "/token") {
      this.asked.push(given);
      const code = given.get("code") ?? "";
      const person = this.#codes.get(code);
      if (person === undefined) return [400, { error: "invalid_grant" }];
      this.#codes.delete(code);
      const token = randomUUID();
      this.#tokens.set(token, person);
      const lasting = { token_type: "Bearer", expires_in: 3600, scope: "tools" };
      return [200, { access_token: token, ...lasting }];
    }
    if (pathname === "/revoke") {
      this.revoked.push(given.get("token") ?? "");
      return [200, {}];
    }
    return [404, {}];
  }
}
