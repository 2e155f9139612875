import type { lookup } from "node:dns";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { SCOPES } from "#contract/constants.ts";
import type { RunInfo } from "#contract/run.ts";
import { EgressProxy } from "#cli/dev/front/egress-proxy.ts";
import { EchoServer } from "../../support/echo-server.ts";
import { jsonInit } from "../../support/http-app.ts";
import { TestWorker } from "../../support/worker.ts";

/** Names as a public name server could give them; the second lookup of `changing.example` gives a private address. */
const ADDRESSES: Record<string, string[]> = {
  "here.example": ["127.0.0.1"],
  "private.example": ["10.0.0.1"],
  "metadata.example": ["169.254.169.254"],
  "mixed.example": ["10.0.0.1", "127.0.0.1"],
  "mapped.example": ["::ffff:10.0.0.1"],
  "changing.example": ["127.0.0.1"],
  "a.wild.example": ["127.0.0.1"],
};

const lookups: string[] = [];

const fakeLookup = ((name: string, _: object, done: (...results: unknown[]) => void) => {
  lookups.push(name);
  const found = ADDRESSES[name];
  if (name === "changing.example") ADDRESSES[name] = ["169.254.169.254"];
  if (found === undefined)
    done(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: "ENOTFOUND" }));
  else
    done(
      null,
      found.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
}) as typeof lookup;

let proxy: EgressProxy;
let server: EchoServer;
let worker: TestWorker;

beforeAll(async () => {
  proxy = new EgressProxy("127.0.0.1", fakeLookup);
  await proxy.listen();
  worker = await TestWorker.start({
    TROUPE_EGRESS_PROXY: proxy.url,
    SECRETS_KEY: btoa("k".repeat(32)),
  });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  proxy.close();
});

beforeEach(async () => {
  server = await EchoServer.start((response, { path }) => {
    if (path === "/away") response.writeHead(302, { location: "http://169.254.169.254/" }).end();
    else if (path === "/broken") response.writeHead(200, { "content-length": "9" }).write("half");
    else response.end("hello");
    if (path === "/broken") setTimeout(() => response.destroy(), 50);
  });
});

afterEach(() => server[Symbol.asyncDispose]());

let teams = 0;

/** What an agent says whose HttpTool asks that server. */
async function ask(
  host: string,
  path = "/",
  method = "GET",
  at: Pick<TestWorker, "fetch"> = worker,
): Promise<string> {
  const id = `t${teams++}`;
  const tool = {
    provider: "autogen_ext.tools.http.HttpTool",
    config: {
      name: "ask",
      host,
      port: server.port,
      path,
      method,
      headers: { "x-own": "kept" },
      json_schema: { type: "object", properties: { a: { type: "string" } } },
    },
  };
  const call = { id: "c", name: "ask", arguments: '{"a":"b"}' };
  const component = {
    provider: "autogen_agentchat.agents.AssistantAgent",
    config: {
      name: "agent",
      description: "Asks.",
      reflect_on_tool_use: false,
      tool_call_summary_format: "{is_error}: {result}",
      model_client: {
        provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
        config: {
          chat_completions: [
            {
              finish_reason: "function_calls",
              content: [call],
              usage: { prompt_tokens: 1, completion_tokens: 1 },
              cached: false,
            },
          ],
          model_info: {
            vision: false,
            function_calling: true,
            json_output: false,
            family: "unknown",
            structured_output: false,
          },
        },
      },
      workbench: [{ provider: "autogen_core.tools.StaticWorkbench", config: { tools: [tool] } }],
    },
  };
  const created = await at.fetch("/v1/teams", jsonInit({ id, component }));
  expect(created.status).toBe(201);
  const run = await at.fetch(`/v1/teams/${id}/runs?wait=60`, jsonInit({ task: "go" }));
  const { result, error } = (await run.json()) as RunInfo;
  expect(error).toBeNull();
  const last = result?.messages.at(-1);
  return last && "content" in last && typeof last.content === "string" ? last.content : "";
}

test("a public name is asked, and the request arrives as it was sent", async () => {
  expect(await ask("here.example")).toBe("False: hello");
  expect(await ask("here.example", "/post", "POST")).toBe("False: hello");
  const [get, post] = server.requests;
  expect(get).toMatchObject({
    method: "GET",
    path: "/?a=b",
    headers: { "x-own": "kept", host: `here.example:${server.port}` },
  });
  expect(post).toMatchObject({ method: "POST", path: "/post", body: '{"a":"b"}' });
  expect(JSON.stringify(server.requests)).not.toContain("troupe-egress");
});

test.for(["private.example", "mapped.example"])(
  "a public name of a private address is refused: %s",
  async (host) => {
    const said = await ask(host);
    expect(said).toMatch(
      new RegExp(
        `^True: .*"${host}" resolves to the private address .*; to allow it, name host and port in ALLOWED_EGRESS: "http://${host}:${server.port}"`,
      ),
    );
    expect(server.requests).toEqual([]);
  },
);

test("a name of a metadata service is refused", async () => {
  expect(await ask("metadata.example")).toMatch(
    /^True: .*"metadata\.example" resolves to the private address 169\.254\.169\.254 .*metadata service\)\. Troupe never/,
  );
});

test("of several addresses only the allowed ones are used", async () => {
  expect(await ask("mixed.example")).toBe("False: hello");
});

test("the address that was checked is the one that is used", async () => {
  const before = lookups.length;
  expect(await ask("changing.example")).toBe("False: hello");
  expect(lookups.slice(before)).toEqual(["changing.example"]);
});

test("a redirect into the private network is not followed", async () => {
  expect(await ask("here.example", "/away", "POST")).toMatch(
    /^True: .*redirects to 169\.254\.169\.254/,
  );
});

test("an unknown name and a broken answer are errors that the model reads", async () => {
  expect(await ask("nowhere.example", "/", "POST")).toMatch(
    /^True: .*cannot be reached.*ENOTFOUND/,
  );
  expect(await ask("here.example", "/broken", "POST")).toMatch(/^True: /);
});

test("this machine is asked directly", async () => {
  const before = lookups.length;
  expect(await ask("127.0.0.1")).toBe("False: hello");
  expect(await ask("localhost")).toBe("False: hello");
  expect(lookups).toHaveLength(before);
});

test("the proxy refuses requests without its key", async () => {
  const headers = { "troupe-egress-target": `http://127.0.0.1:${server.port}/` };
  const guess = await fetch(new URL("/guess", proxy.url), { headers });
  expect(guess.status).toBe(403);
  const send = (target: string, reach: string): Promise<Response> =>
    fetch(proxy.url, { headers: { "troupe-egress-target": target, "troupe-egress-reach": reach } });
  // The Worker asks addresses itself.
  expect((await send(`http://127.0.0.1:${server.port}/`, "private")).status).toBe(403);
  expect((await send(`http://here.example:${server.port}/`, "anywhere")).status).toBe(403);
  const hidden = await send("http://private.example/", "public");
  expect(hidden.headers.get("troupe-egress-outcome")).toBe("denied");
  expect(server.requests).toEqual([]);
});

test("a webhook to a name that leads to a private address is not sent", async () => {
  const body = { url: "http://private.example/hook", events: ["message"] };
  const put = await worker.fetch("/v1/webhooks/hook", jsonInit(body, "PUT"));
  expect(put.status).toBe(201);
  const tested = await worker.fetch("/v1/webhooks/hook/test", { method: "POST" });
  expect(await tested.json()).toMatchObject({
    delivered: false,
    status: null,
    error: expect.stringContaining("private"),
  });
  expect(lookups).toContain("private.example");
});

describe("with keys", () => {
  const key = "a-key";
  const closedTo = async (
    allowed: string,
  ): Promise<AsyncDisposable & Pick<TestWorker, "fetch">> => {
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key));
    const keys = [{ hash: Buffer.from(digest).toString("hex"), tenant: "acme", scopes: SCOPES }];
    const closed = await TestWorker.start({
      TROUPE_OPEN: "0",
      TROUPE_EGRESS_PROXY: proxy.url,
      API_KEYS: JSON.stringify(keys),
      SECRETS_KEY: btoa("k".repeat(32)),
      ALLOWED_EGRESS: allowed,
    });
    return {
      fetch: (path, init) => {
        const headers = new Headers(init?.headers);
        headers.set("authorization", `Bearer ${key}`);
        return closed.fetch(path, { ...init, headers });
      },
      [Symbol.asyncDispose]: () => closed[Symbol.asyncDispose](),
    };
  };

  test("a name with its port may resolve to a private address, without it or as a wildcard not", async () => {
    const { port } = server;
    await using closed = await closedTo(
      `http://here.example:${port}, http://*.wild.example:${port}, http://metadata.example:${port}, http://127.0.0.1:${port}`,
    );
    expect(await ask("here.example", "/", "GET", closed)).toBe("False: hello");
    expect(await ask("127.0.0.1", "/", "GET", closed)).toBe("False: hello");
    expect(await ask("a.wild.example", "/", "GET", closed)).toMatch(
      /^True: .*"a\.wild\.example" resolves to the private address 127\.0\.0\.1/,
    );
    expect(await ask("metadata.example", "/", "GET", closed)).toMatch(/^True: .*never/);
    expect(await ask("localhost", "/", "GET", closed)).toMatch(/^True: .*private or local address/);
    expect(await ask("here.example", "/away", "POST", closed)).toMatch(/^True: .*redirects to/);
    expect(server.requests.map(({ path }) => path)).toEqual(["/?a=b", "/?a=b", "/away"]);
  });
});
