import type { lookup } from "node:dns";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { SCOPES } from "#contract/constants.ts";
import type { RunInfo } from "#contract/run.ts";
import { EgressProxy } from "#cli/server/front/egress-proxy.ts";
import { freePort } from "../../../support/ports.ts";
import { EchoServer } from "../../../support/echo-server.ts";
import { jsonInit } from "../../../support/http-app.ts";
import { TestWorker } from "../../../support/worker.ts";

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
      retry: { attempts: 2 },
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

test("a public name is requested, and the request arrives unchanged", async () => {
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

test("a name with several addresses uses the allowed ones only", async () => {
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

test("a request to this machine does not pass the proxy", async () => {
  const before = lookups.length;
  expect(await ask("127.0.0.1")).toBe("False: hello");
  expect(await ask("localhost")).toBe("False: hello");
  expect(lookups).toHaveLength(before);
});

test.for([
  [
    "a name of this machine",
    "here.example",
    /"here\.example" resolves to the private address 127\.0\.0\.1/,
  ],
  ["a private name", "private.example", /"private\.example" resolves to the private address/],
  ["its own server", "cards.example", undefined],
] as const)("the card of a remote agent may name %s or not", async ([, host, refusal]) => {
  ADDRESSES["cards.example"] = ["127.0.0.1"];
  const paths: string[] = [];
  await using cards = await EchoServer.start((response, { path }) => {
    paths.push(path);
    const url = `http://${host}:${cards.port}/rpc`;
    const said = { message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "hello" }] } };
    const body = path.endsWith("agent-card.json")
      ? { supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }] }
      : { jsonrpc: "2.0", id: 1, result: said };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  const id = `t${teams++}`;
  const config = { name: "remote", url: `http://cards.example:${cards.port}/` };
  const component = { provider: "troupe.agents.A2AAgent", config };
  await worker.fetch("/v1/teams", jsonInit({ id, component }));
  const run = await worker.fetch(`/v1/teams/${id}/runs?wait=60`, jsonInit({ task: "go" }));
  const { status, error } = (await run.json()) as RunInfo;
  expect(status).toBe(refusal === undefined ? "completed" : "failed");
  if (refusal !== undefined) expect(error?.message).toMatch(refusal);
  expect(paths.includes("/rpc")).toBe(refusal === undefined);
});

test("the URL of a file leads to no private address by a name", async () => {
  const id = `t${teams++}`;
  const config = { name: "remote", url: "http://here.example/" };
  const component = { provider: "troupe.agents.A2AAgent", config };
  await worker.fetch("/v1/teams", jsonInit({ id, component }));
  const url = `http://here.example:${server.port}/notes.txt`;
  const content = [{ url }];
  const task = { type: "MultiModalMessage", source: "user", content };
  const answer = await worker.fetch(`/v1/teams/${id}/runs`, jsonInit({ task: [task] }));
  expect(answer.status).toBe(422);
  expect(await answer.text()).toContain("resolves to the private address 127.0.0.1");
  expect(server.requests).toEqual([]);
});

const send = (target: string, reach: string): Promise<Response> =>
  fetch(proxy.url, { headers: { "troupe-egress-target": target, "troupe-egress-reach": reach } });

test("the proxy refuses requests without its key", async () => {
  const headers = { "troupe-egress-target": `http://127.0.0.1:${server.port}/` };
  const guess = await fetch(new URL("/guess", proxy.url), { headers });
  expect(guess.status).toBe(403);
  expect((await send(`http://here.example:${server.port}/`, "anywhere")).status).toBe(403);
  expect(server.requests).toEqual([]);
});

test.each([
  ["an address outside of what may be reached", "127.0.0.1", "public", "denied"],
  ["an address of version 6 outside of it", "[::1]", "public", "denied"],
  ["an address that is never asked", "169.254.169.254", "private", "denied"],
  ["a name outside of it", "private.example", "public", "denied"],
  ["a name that is not found", "nowhere.example", "public", "unsent"],
  ["an address at which no server listens", "[::1]", "local", "unsent"],
  ["a name at which no server listens", "here.example", "local", "unsent"],
])(
  "the proxy names the reason if there is no answer from %s",
  async (_what, host, reach, outcome) => {
    const port = await freePort();
    const { status, headers } = await send(`http://${host}:${port}/`, reach);
    expect([status, headers.get("troupe-egress-outcome")]).toEqual([502, outcome]);
  },
);

test("the proxy reports that a server failed after it got the request, and passes on answers", async () => {
  await using cutting = await EchoServer.start((response) => void response.destroy());
  const failed = await send(`http://127.0.0.1:${cutting.port}/`, "local");
  expect(failed.headers.get("troupe-egress-outcome")).toBe("failed");
  const answered = await send(`http://127.0.0.1:${server.port}/`, "local");
  expect([answered.headers.get("troupe-egress-outcome"), await answered.text()]).toEqual([
    null,
    "hello",
  ]);
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

describe("names that have a key", () => {
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

  test("may resolve to a private address with their port, not without it or as a wildcard", async () => {
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
