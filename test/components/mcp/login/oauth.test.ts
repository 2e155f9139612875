import { describe, expect, test, vi } from "vitest";
import {
  type JsonObject,
  type McpDependencies,
  McpWorkbench,
  TroupeError,
  type TurnContext,
} from "troupe";
import { egressRules } from "#outgoing/egress.ts";
import { guardedFetch } from "#outgoing/outgoing-fetch.ts";
import { RecordingHost } from "../../../core/support/recording-host.ts";
import { EchoServer, type SeenRequest } from "../../../support/echo-server.ts";
import { call, textsOf } from "../support/calls.ts";
import { type Kind, TestMcpServer } from "../support/test-server.ts";

/** An authorization server that knows one client. */
class TestIssuer implements AsyncDisposable {
  token = "token-1";
  /** How clients say who they are. */
  methods = ["client_secret_basic"];
  readonly #server: EchoServer;

  private constructor(server: EchoServer) {
    this.#server = server;
  }

  static async start(): Promise<TestIssuer> {
    let issuer: TestIssuer | undefined = undefined;
    const server = await EchoServer.start((response, request) => {
      const [status, answer] = (issuer as TestIssuer).#answer(request);
      response
        .writeHead(status, { "content-type": "application/json" })
        .end(JSON.stringify(answer));
    });
    issuer = new TestIssuer(server);
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  /** Requests for tokens. */
  get asked(): SeenRequest[] {
    return this.#server.requests.filter(({ path }) => path === "/token");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }

  #answer({ path, headers, body }: SeenRequest): [number, JsonObject] {
    if (path === "/.well-known/oauth-authorization-server") {
      const metadata = {
        issuer: this.url,
        authorization_endpoint: `${this.url}/authorize`,
        token_endpoint: `${this.url}/token`,
        response_types_supported: ["code"],
        token_endpoint_auth_methods_supported: this.methods,
      };
      return [200, metadata];
    }
    if (path !== "/token") return [404, {}];
    const given = new URLSearchParams(body);
    const basic = `Basic ${btoa("clerk:s3cret-of-clerk")}`;
    if (headers.authorization === basic || given.get("client_secret") === "s3cret-of-clerk") {
      return [200, { access_token: this.token, token_type: "Bearer", expires_in: 3600 }];
    }
    const error_description = `no client has ${headers.authorization}`;
    return [401, { error: "invalid_client", error_description }];
  }
}

const CREDENTIALS = { clientId: "clerk", clientSecret: "env:CLERK_SECRET" };

const secrets: McpDependencies = { secret: () => "s3cret-of-clerk" };

async function guarded(kind: Kind = "modern") {
  const issuer = await TestIssuer.start();
  const server = await TestMcpServer.start(kind);
  server.guard = { issuer: issuer.url, token: issuer.token };
  return {
    issuer,
    server,
    workbench: (more: JsonObject = {}, dependencies = secrets, headers: JsonObject = {}) =>
      new McpWorkbench(
        {
          serverParams: {
            ...server.params,
            headers,
            oauth: { ...CREDENTIALS, issuer: issuer.url, ...more },
          } as never,
        },
        dependencies,
      ),
    async [Symbol.asyncDispose]() {
      await issuer[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Lists the tools once: a host would try again. */
function listOnce(workbench: McpWorkbench): Promise<unknown> {
  const { signal } = new AbortController();
  const step = (_: string, effect: (attempt: object) => unknown) =>
    effect({ signal, attempt: 1, idempotencyKey: "key" });
  return workbench.listTools({ ctx: { step } as unknown as TurnContext });
}

describe.each(["modern", "sessions", "sse"] satisfies Kind[])(
  "a %s server that asks for OAuth",
  (kind) => {
    test("gets a token of the client credentials grant, which lasts for all requests", async () => {
      await using setup = await guarded(kind);
      const workbench = setup.workbench();
      const host = new RecordingHost();
      await workbench.listTools({ ctx: host.attempt() });
      const { result } = await call(workbench, "echo", { text: "hi" }, host);
      expect(textsOf(result)).toEqual(["echo: hi"]);
      await workbench.close();
      expect(setup.issuer.asked).toHaveLength(1);
      const body = new URLSearchParams(setup.issuer.asked[0]?.body);
      expect(Object.fromEntries(body)).toEqual({
        grant_type: "client_credentials",
        scope: "tools",
        resource: setup.server.url,
      });
    });
  },
);

test("a token that is no longer valid is replaced", async () => {
  await using setup = await guarded();
  const workbench = setup.workbench();
  await call(workbench, "echo", { text: "hi" });
  setup.issuer.token = "token-2";
  setup.server.guard = { issuer: setup.issuer.url, token: "token-2" };
  const { result } = await call(workbench, "echo", { text: "again" });
  expect(textsOf(result)).toEqual(["echo: again"]);
  await workbench.close();
  expect(setup.issuer.asked).toHaveLength(2);
});

test("a client may have to send its secret in the body", async () => {
  await using setup = await guarded();
  setup.issuer.methods = ["client_secret_post"];
  const workbench = setup.workbench();
  await listOnce(workbench);
  await workbench.close();
  const body = new URLSearchParams(setup.issuer.asked[0]?.body);
  expect([body.get("client_id"), body.get("client_secret")]).toEqual(["clerk", "s3cret-of-clerk"]);
});

test("the server's headers go to the server only", async () => {
  await using setup = await guarded();
  const workbench = setup.workbench({}, secrets, { "x-tenant": "acme" });
  await listOnce(workbench);
  await workbench.close();
  expect(setup.issuer.asked[0]?.headers["x-tenant"]).toBeUndefined();
  expect(setup.server.headers.at(-1)?.["x-tenant"]).toBe("acme");
});

describe("a login is refused once", () => {
  test("if a server names another issuer, which gets no secret", async () => {
    await using setup = await guarded();
    await using thief = await TestIssuer.start();
    setup.server.guard = { issuer: thief.url, token: "token" };
    const error: unknown = await listOnce(setup.workbench()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "mcp_refused", retryable: false });
    expect(String(error)).toContain("Authorization server mismatch");
    expect(thief.asked).toEqual([]);
  });

  test("if an issuer is not allowed, with the setting that allows it", async () => {
    await using setup = await guarded();
    const allowed = `http://127.0.0.1:${new URL(setup.server.url).port}`;
    const fetch = guardedFetch(egressRules({ TROUPE_OPEN: "1", ALLOWED_EGRESS: allowed }));
    await expect(listOnce(setup.workbench({}, { ...secrets, fetch }))).rejects.toMatchObject({
      code: "egress_denied",
    });
    expect(setup.issuer.asked).toEqual([]);
  });

  test("if a secret is not allowed at the token endpoint", async () => {
    await using setup = await guarded();
    const destinations: string[] = [];
    const secret = (_: string, url: string): string => {
      destinations.push(url);
      throw new TroupeError("secret_not_allowed", "not there");
    };
    await expect(listOnce(setup.workbench({}, { secret }))).rejects.toMatchObject({
      code: "secret_not_allowed",
    });
    expect(destinations).toEqual([`${setup.issuer.url}/token`]);
  });

  test("if a secret is wrong, which the error does not repeat", async () => {
    await using setup = await guarded();
    // The SDK warns about it.
    using _warnings = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const error: unknown = await listOnce(
      setup.workbench({}, { secret: () => "another-secret" }),
    ).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "mcp_protocol", retryable: false });
    expect(String(error)).toContain("no client has Basic [redacted]");
  });

  test("if a server has no credentials, with the fields that take them", async () => {
    await using setup = await guarded();
    const workbench = new McpWorkbench({ serverParams: setup.server.params });
    await expect(listOnce(workbench)).rejects.toThrow(/HTTP 401.*headers or oauth/);
  });
});
