import { once } from "node:events";
import { STATUS_CODES } from "node:http";
import { describe, expect, test } from "vitest";
import {
  ComponentRegistry,
  HttpTool,
  StaticWorkbench,
  dumpComponent,
  httpToolComponents,
} from "troupe";
import type { AnyTool, HttpToolOptions, JsonObject, OutgoingDependencies, ToolRun } from "troupe";
import { resultText } from "#core/tools/tool-result.ts";
import { outcome, RecordingHost } from "../../core/support/recording-host.ts";
import { freePort } from "../../support/ports.ts";
import { EchoServer } from "../../support/echo-server.ts";
import { runContext } from "#core/turn/run-context.ts";

const json_schema = {
  type: "object",
  properties: {
    id: { type: "string" },
    q: { type: "string" },
    limit: { type: "integer", default: 3 },
    tags: { type: "array", items: { type: "string" } },
    deep: { type: "object", properties: { a: { type: "integer" } } },
    loud: { type: "boolean" },
  },
  required: ["id"],
};

const call: ToolRun = {
  signal: new AbortController().signal,
  idempotencyKey: "run/1/key",
  callId: undefined,
  env: {},
  run: runContext({ id: "run" }),
};

function toolOf(
  { port }: { port: number },
  config: Partial<HttpToolOptions> = {},
  dependencies?: OutgoingDependencies,
): HttpTool {
  const given = { name: "ask", host: "127.0.0.1", port, jsonSchema: json_schema, ...config };
  return new HttpTool(given, dependencies);
}

/** A server and a tool that asks it for `/items/{id}`. */
async function ask(
  config: Partial<HttpToolOptions>,
  args: JsonObject,
): Promise<EchoServer["requests"][number]> {
  await using server = await EchoServer.start();
  await toolOf(server, { path: "/items/{id}", ...config }).run(args, call);
  expect(server.requests).toHaveLength(1);
  return server.requests[0]!;
}

describe("the arguments of a call", () => {
  const args = { id: "7", q: "a b&c", tags: ["x", "y"], deep: { a: 1 }, loud: true, other: 1 };

  test.each(["GET", "DELETE"] as const)("become its path and its query in a %s", async (method) => {
    const { path, body, headers, method: sent } = await ask({ method }, args);
    expect(sent).toBe(method);
    const url = new URL(path, "http://host");
    expect(url.pathname).toBe("/items/7");
    expect([...url.searchParams]).toEqual([
      ["q", "a b&c"],
      ["limit", "3"],
      ["tags", "x"],
      ["tags", "y"],
      ["deep", '{"a":1}'],
      ["loud", "true"],
    ]);
    expect(body).toBe("");
    expect(headers).not.toHaveProperty("content-type");
  });

  test.each(["POST", "PUT", "PATCH", null] as const)(
    "become its path and its JSON body in a %s",
    async (method) => {
      const { path, body, headers, method: sent } = await ask({ method }, args);
      expect(sent).toBe(method ?? "POST");
      expect(path).toBe("/items/7");
      expect(headers["content-type"]).toBe("application/json");
      const { id: _, other: __, ...rest } = args;
      expect(JSON.parse(body)).toEqual({ ...rest, limit: 3 });
    },
  );

  test("that are left out or null are not sent", async () => {
    const { path } = await ask({ method: "GET" }, { id: "7", q: null, limit: 1 });
    expect(path).toBe("/items/7?limit=1");
    const { body } = await ask({}, { id: "7", q: null });
    expect(JSON.parse(body)).toEqual({ limit: 3 });
  });

  test.each([
    ["a/b", "a%2Fb"],
    ["a?b#c", "a%3Fb%23c"],
    ["a b%2e", "a%20b%252e"],
    ["..%2f..", "..%252f.."],
    ["...", "..."],
    ["é\ud800", "%C3%A9%EF%BF%BD"],
    ["a\\b", "a%5Cb"],
  ])("stay in their part of the path: %s", async (id, sent) => {
    const { path } = await ask({ method: "GET", path: "/items/{id}/end" }, { id, limit: 1 });
    expect(path).toBe(`/items/${sent}/end?limit=1`);
  });

  test.each([
    ["..", "/items/{id}/end"],
    [".", "/items/{id}"],
    ["../admin", "/items/{id}"],
    ["a\\..\\b", "/items/{id}"],
    ["x/..", "/items/{id}"],
    ["", "/items/{id}"],
    [".", "/items/{id}{id}"],
  ])("that would leave their part of the path are refused: %j in %s", async (id, path) => {
    await using server = await EchoServer.start();
    await expect(toolOf(server, { path }).run({ id }, call)).rejects.toThrow(/id/);
    expect(server.requests).toEqual([]);
  });

  test.each([
    [{}, "id: missing"],
    [{ id: "1", limit: "many" }, "limit"],
  ])("that do not fit are refused: %j", async (wrong, message) => {
    await using server = await EchoServer.start();
    await expect(toolOf(server).run(wrong, call)).rejects.toThrow(message);
    expect(server.requests).toEqual([]);
  });

  test("may be numbers in the path", async () => {
    const schema = { type: "object", properties: { id: { type: "integer" } }, required: ["id"] };
    const { path } = await ask({ method: "GET", jsonSchema: schema }, { id: 7 });
    expect(path).toBe("/items/7");
  });
});

describe("the headers of a request", () => {
  test("are those of the config, and a key by which the server recognises a repeated request", async () => {
    const { headers } = await ask(
      { headers: { "X-Version": 2, accept: "text/plain" } },
      { id: "1" },
    );
    expect(headers).toMatchObject({
      "x-version": "2",
      accept: "text/plain",
      "idempotency-key": "run/1/key",
    });
    const own = { "Idempotency-Key": "mine", "content-type": "application/vnd.x+json" };
    expect((await ask({ headers: own }, { id: "1" })).headers).toMatchObject({
      "idempotency-key": "mine",
      "content-type": "application/vnd.x+json",
    });
  });

  test("get the secrets they refer to, by destination, and the secrets stay hidden", async () => {
    await using server = await EchoServer.start((response, request) => {
      const status = request.path === "/fail" ? 403 : 200;
      response.writeHead(status).end(JSON.stringify({ seen: request.headers }));
    });
    const asked: string[][] = [];
    const secret = (ref: string, url: string): string => {
      asked.push([ref, url]);
      return "s3cret-value";
    };
    const headers = {
      authorization: "Bearer env:TOKEN",
      "x-api-key": "plain-key",
      "x-plain": "plain-text",
    };
    const config = { headers, returnType: "json" as const };
    const answer = await toolOf(server, config, { secret }).run({ id: "1" }, call);
    expect(asked).toEqual([["env:TOKEN", `http://127.0.0.1:${server.port}`]]);
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: "Bearer s3cret-value",
      "x-api-key": "plain-key",
    });
    expect(answer).toMatchObject({
      seen: {
        authorization: "Bearer [redacted]",
        "x-api-key": "[redacted]",
        "x-plain": "[redacted]",
      },
    });
    const failing = toolOf(server, { ...config, path: "/fail" }, { secret });
    const error: unknown = await failing.run({ id: "1" }, call).catch((thrown: unknown) => thrown);
    expect(String(error)).toContain("403");
    expect(String(error)).not.toMatch(/s3cret|plain-key/);
  });

  test("that contain a secret of their own are not shown without their scheme either", async () => {
    await using server = await EchoServer.start((response, { headers }) => {
      const [, token] = headers["authorization"]?.split(" ") ?? [];
      response.end(`whole: ${headers["authorization"]}; token: ${token}`);
    });
    const tool = toolOf(server, { headers: { Authorization: "Bearer abc-def" } });
    const answer = await tool.run({ id: "1" }, call);
    expect(answer).toBe("whole: [redacted]; token: [redacted]");
  });

  test("that contain an unknown secret cause an error, not a request", async () => {
    await using server = await EchoServer.start();
    const tool = toolOf(server, { headers: { "x-key": "env:GONE" } }, { env: () => undefined });
    await expect(tool.run({ id: "1" }, call)).rejects.toThrow("'GONE'");
    expect(server.requests).toEqual([]);
  });
});

describe("the answer of the server", () => {
  const answering = (body: string | Buffer, headers: Record<string, string> = {}, status = 200) =>
    EchoServer.start((response) => void response.writeHead(status, headers).end(body));

  test("is text, in the character set the server names", async () => {
    await using server = await answering(Buffer.from([0xe9]), {
      "content-type": "text/plain; charset=iso-8859-1",
    });
    expect(await toolOf(server).run({ id: "1" }, call)).toBe("é");
    await using odd = await answering("é", { "content-type": "text/plain; charset=klingon" });
    expect(await toolOf(odd).run({ id: "1" }, call)).toBe("é");
  });

  test("is JSON if the config says so, and null if it is empty", async () => {
    await using server = await answering('{"a": [1, null]}');
    const tool = toolOf(server, { returnType: "json" });
    expect(tool.valueAsText(await tool.run({ id: "1" }, call))).toBe('{"a":[1,null]}');
    await using empty = await answering("", {}, 204);
    expect(await toolOf(empty, { returnType: "json" }).run({ id: "1" }, call)).toBeNull();
  });

  test("that should be JSON and is not reports that the request was made", async () => {
    await using server = await answering("<p>Hello</p>");
    const asked = toolOf(server, { returnType: "json" }).run({ id: "1" }, call);
    await expect(asked).rejects.toMatchObject({
      code: "http_bad_answer",
      retryable: false,
      message: expect.stringMatching(/was done.*<p>Hello/),
    });
  });

  test("is cut where it is too long, with a note, and the rest is not read", async () => {
    let sent = 0;
    await using server = await EchoServer.start(async (response) => {
      const gone = once(response, "close");
      while (!response.destroyed && sent < 100_000_000) {
        sent += 100_000;
        response.write("é".repeat(50_000));
        if (response.writableNeedDrain) await Promise.race([once(response, "drain"), gone]);
      }
    });
    const answer = (await toolOf(server).run({ id: "1" }, call)) as string;
    expect(answer).toMatch(/é\n\[Cut: these are the first 900000 bytes\.\]$/);
    expect(Buffer.byteLength(answer)).toBeLessThan(900_100);
    expect(sent).toBeLessThan(20_000_000);
  });

  test.each([
    [400, false],
    [404, false],
    [408, true],
    [429, true],
    [500, true],
    [501, false],
    [503, true],
  ])(
    "that has the status %i is an error with the text of the server",
    async (status, retryable) => {
      await using server = await answering("because", { "retry-after": "7" }, status);
      const wait = retryable ? " \\(the server asks for a wait of 7 seconds\\)" : "";
      await expect(toolOf(server).run({ id: "1" }, call)).rejects.toMatchObject({
        code: "http_status",
        retryable,
        retryAfterMs: 7000,
        message: expect.stringMatching(new RegExp(`^HTTP ${status} .*: because${wait}$`)),
      });
    },
  );

  test("that redirects is not followed", async () => {
    await using target = await EchoServer.start();
    const location = `http://127.0.0.1:${target.port}/`;
    await using server = await answering("", { location }, 302);
    await expect(toolOf(server).run({ id: "1" }, call)).rejects.toThrow(
      `leads to ${location}, and redirects are not followed`,
    );
    expect(target.requests).toEqual([]);
  });

  test("that does not come is a timeout, also when it has begun", async () => {
    await using silent = await EchoServer.start(() => {});
    await using slow = await EchoServer.start((response) => {
      response.write("so");
    });
    for (const server of [silent, slow]) {
      const asked = toolOf(server, { timeout: 0.05 }).run({ id: "1" }, call);
      await expect(asked).rejects.toMatchObject({
        code: "http_timeout",
        retryable: true,
        message: expect.stringContaining("0.05 seconds"),
      });
    }
  });

  test("may take longer than a timer can wait", async () => {
    await using server = await EchoServer.start((response) => {
      setTimeout(() => response.end("late"), 20);
    });
    expect(await toolOf(server, { timeout: 1e9 }).run({ id: "1" }, call)).toBe("late");
  });

  test("that cannot arrive because there is no server is an error that says so", async () => {
    const server = await EchoServer.start();
    const { port } = server;
    await server[Symbol.asyncDispose]();
    await expect(toolOf({ port }).run({ id: "1" }, call)).rejects.toMatchObject({
      code: "http_connection",
      retryable: true,
      message: expect.stringContaining(`"127.0.0.1:${port}" cannot be reached`),
    });
  });

  test("is not waited for when the run is cancelled", async () => {
    const controller = new AbortController();
    await using server = await EchoServer.start(() => {
      controller.abort(new Error("cancelled"));
    });
    const gone = new Promise<void>((resolve) => {
      server.onGone = resolve;
    });
    const { signal } = controller;
    await expect(toolOf(server).run({ id: "1" }, { ...call, signal })).rejects.toThrow("cancelled");
    await gone;
  });
});

describe("a call in a turn", () => {
  const args = { id: "1" };
  const asTool = (journal: RecordingHost, tool: HttpTool, during?: string) => {
    const ctx = journal.attempt(during === undefined ? {} : { during });
    return outcome(new StaticWorkbench([tool]).callTool("ask", args, { ctx, callId: "c" }));
  };

  test("that was a POST and was cut off is not sent again", async () => {
    await using server = await EchoServer.start();
    const journal = new RecordingHost();
    expect((await asTool(journal, toolOf(server), "call")).error).toBeDefined();
    const { result } = await asTool(journal, toolOf(server));
    expect(result).toMatchObject({ is_error: true });
    expect(resultText(result!)).toContain("outcome is unknown");
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    ["a GET", { method: "GET" } as const],
    ["a POST that is declared repeatable", { policy: "retry" } as const],
  ])("that was %s and was cut off is sent again under the same key", async (_what, config) => {
    await using server = await EchoServer.start();
    const journal = new RecordingHost();
    await asTool(journal, toolOf(server, config), "call");
    const { result } = await asTool(journal, toolOf(server, config));
    expect(resultText(result!)).toBe("ok");
    const keys = server.requests.map(({ headers }) => headers["idempotency-key"]);
    expect(keys).toEqual(["run/1/call", "run/1/call"]);
    expect(resultText((await asTool(journal, toolOf(server, config))).result!)).toBe("ok");
    expect(server.requests).toHaveLength(2);
  });

  test.each([
    // Waits of half a second to a minute, until two minutes are over.
    ["a GET of a busy server", 503, { method: "GET" }, " (9 attempts in 120 seconds)", 9],
    ["a GET that the server may fail at", 500, { method: "GET" }, " (5 attempts in 8 seconds)", 5],
    [
      "a GET with attempts",
      503,
      { method: "GET", retry: { attempts: 2 } },
      " (2 attempts in 1 second)",
      2,
    ],
    ["a GET without patience", 503, { method: "GET", retry: { forSeconds: 0 } }, "", 1],
    ["a POST, which must not happen twice", 503, { retry: { attempts: 9 } }, "", 1],
  ] as const)(
    "that is %s is retried by its policy",
    async (_what, status, config, suffix, attempts) => {
      await using busy = await EchoServer.start(
        (response) => void response.writeHead(status).end("busy"),
      );
      const { result } = await asTool(new RecordingHost(), toolOf(busy, config));
      expect(resultText(result!)).toBe(`HTTP ${status} ${STATUS_CODES[status]}: busy${suffix}`);
      expect(result).toMatchObject({ is_error: true });
      expect(busy.requests).toHaveLength(attempts);
    },
  );

  test.each(["never", "ask"] as const)(
    "that is a POST of the policy %s is sent when its server is back if the server had not received it",
    async (policy) => {
      const port = await freePort();
      let away = 3;
      let server: EchoServer | undefined;
      const tool = toolOf(
        { port },
        { policy },
        {
          fetch: async (url, init) => {
            if (away-- === 0) server = await EchoServer.start(undefined, port);
            return fetch(url, init);
          },
        },
      );
      const { result } = await asTool(new RecordingHost(), tool);
      expect(resultText(result!)).toBe("ok");
      expect(server?.requests).toHaveLength(1);
      await server?.[Symbol.asyncDispose]();
    },
  );
});

describe("component JSON of an HTTP tool", () => {
  const registry = new ComponentRegistry().register(...httpToolComponents());
  const provider = "autogen_ext.tools.http.HttpTool";
  const minimal = { name: "ask", host: "api.example.com", port: 443, json_schema };

  test("that AutoGen has dumped loads and is dumped unchanged", () => {
    const full = {
      provider,
      component_type: "tool",
      version: 1,
      component_version: 1,
      config: {
        ...minimal,
        description: "Asks.",
        scheme: "https",
        path: "/a/{id}",
        method: "PUT",
        headers: { accept: "text/plain" },
        return_type: "json",
        timeout: 7.5,
      },
    };
    expect(dumpComponent(registry.load(full, "tool"))).toEqual(full);
  });

  test("gets its defaults", () => {
    const { port: _, ...rest } = minimal;
    const tool = registry.load<HttpTool>({ provider, config: rest });
    // AutoGen refuses a config without description, headers or port.
    expect(dumpComponent(tool).config).toEqual({
      ...rest,
      description: null,
      headers: null,
      port: 80,
      scheme: "http",
      path: "/",
      timeout: 5,
    });
    expect(tool.schema).toMatchObject({ name: "ask", parameters: json_schema });
    expect(tool.policy).toBe("never");
  });

  test.each<[what: string, config: JsonObject, path: string]>([
    ["a host with a path", { host: "a.example/b" }, "host"],
    ["a host with a user", { host: "me@a.example" }, "host"],
    ["a host with a port", { host: "a.example:1" }, "host"],
    ["an empty host", { host: "" }, "host"],
    ["an invalid port", { port: 0 }, "port"],
    ["another scheme", { scheme: "file" }, "scheme"],
    ["another method", { method: "TRACE" }, "method"],
    ["a path over no argument", { path: "/{name}" }, "path"],
    ["a path that leads up", { path: "/a/../{id}" }, "path"],
    ["a header of the connection", { headers: { Host: "other" } }, "headers.Host"],
    ["a header with a line break", { headers: { "x-a": "1\r\nx-b: 2" } }, "headers.x-a"],
    ["no time to answer", { timeout: 0 }, "timeout"],
  ])("that has %s is refused, and the field is named", (_what, config, path) => {
    const component = { provider, config: { ...minimal, ...config } };
    expect(registry.validate(component).map((issue) => issue.path)).toEqual([
      `component.config.${path}`,
    ]);
  });

  test("that requires approval is not accepted as options in code, where it would ask no human", () => {
    const config = { ...minimal, approval: "human" };
    expect(registry.load<AnyTool>({ provider, config }).approval).toEqual({
      timeoutSeconds: null,
    });
    const options = { name: "ask", host: "a.example", jsonSchema: json_schema, approval: "human" };
    expect(() => new HttpTool(options as never)).toThrow("withApproval");
  });

  test.each(["[::1]", "::1", "10.0.0.1", "a.example", "bücher.example"])(
    "may have the host %s",
    (host) => {
      expect(registry.validate({ provider, config: { ...minimal, host } })).toEqual([]);
    },
  );
});
