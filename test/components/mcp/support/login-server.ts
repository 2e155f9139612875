import { randomUUID } from "node:crypto";
import type { JsonObject } from "troupe";
import { EchoServer, type SeenRequest } from "../../../support/echo-server.ts";
import { TestMcpServer } from "./test-server.ts";

const JSON_TYPE = { "content-type": "application/json" };

/** An MCP server that needs a login, and its authorization server: any client registers, and whoever opens the address is logged in. */
export class LoginServer implements AsyncDisposable {
  readonly mcp: TestMcpServer;
  readonly #issuer: EchoServer;
  readonly #codes = new Set<string>();
  readonly #tokens = new Set<string>();

  private constructor(mcp: TestMcpServer, issuer: EchoServer) {
    this.mcp = mcp;
    this.#issuer = issuer;
    mcp.guard = {
      issuer: this.issuer,
      scope: "tools",
      lacks: (token) => (this.#tokens.has(token) ? null : "token"),
    };
  }

  static async start(): Promise<LoginServer> {
    let server: LoginServer | undefined = undefined;
    const issuer = await EchoServer.start((response, request) => {
      const [status, answer] = (server as LoginServer).#answer(request);
      response.writeHead(status, typeof answer === "string" ? { location: answer } : JSON_TYPE);
      response.end(typeof answer === "string" ? undefined : JSON.stringify(answer));
    });
    server = new LoginServer(await TestMcpServer.start(), issuer);
    return server;
  }

  /** The address of the authorization server. */
  get issuer(): string {
    return `http://127.0.0.1:${this.#issuer.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.mcp[Symbol.asyncDispose]();
    await this.#issuer[Symbol.asyncDispose]();
  }

  /** The status, and a JSON object or the address that it leads to. */
  #answer({ path, body }: SeenRequest): [number, JsonObject | string] {
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
        },
      ];
    }
    if (pathname === "/register") return [201, { ...JSON.parse(body), client_id: "registered" }];
    if (pathname === "/authorize") {
      const code = randomUUID();
      this.#codes.add(code);
      const location = new URL(asked.get("redirect_uri") ?? "");
      location.search = String(new URLSearchParams({ code, state: asked.get("state") ?? "" }));
      return [302, location.href];
    }
    if (pathname === "/token" && this.#codes.delete(new URLSearchParams(body).get("code") ?? "")) {
      const token = randomUUID();
      this.#tokens.add(token);
      const lasting = { token_type: "Bearer", expires_in: 3600, scope: "tools" };
      return [200, { access_token: token, ...lasting }];
    }
    return [404, {}];
  }
}
