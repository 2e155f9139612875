import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import type { JsonObject } from "#core/json.ts";
import { toText } from "#core/messages/views.ts";
import { TestMcpServer } from "../components/mcp/support/test-server.ts";
import { EchoServer } from "../support/echo-server.ts";
import { startFakeOpenAI } from "../support/fake-openai/server.ts";
import { jsonInit } from "../support/http-app.ts";
import { NpmStart } from "../support/npm-start.ts";
import { freePort } from "../support/ports.ts";
import { Sandbox } from "../support/sandbox.ts";
import { WebhookReceiver } from "../support/webhook-receiver.ts";

// A server with keys in a private network: everything that it asks is on this machine.
let persistTo: string;
let stack: AsyncDisposableStack;
let server: NpmStart;
let key: string;
let models: Awaited<ReturnType<typeof startFakeOpenAI>>;
let mcp: TestMcpServer;
let receiver: WebhookReceiver;
let named: EchoServer;
let unnamed: EchoServer;

beforeAll(async () => {
  persistTo = mkdtempSync(join(tmpdir(), "troupe-private-"));
  stack = new AsyncDisposableStack();
  models = await startFakeOpenAI({
    rules: [{ name: "hi", match: { text: "hello" }, reply: { content: "Hi from here." } }],
  });
  stack.defer(() => models.close());
  mcp = stack.use(await TestMcpServer.start());
  receiver = stack.use(await WebhookReceiver.start());
  named = stack.use(await EchoServer.start());
  unnamed = stack.use(await EchoServer.start());
  const sandbox = stack.use(await Sandbox.start());
  const addresses = [models.url, mcp.url, receiver.url(), sandbox.url].map(
    (url) => new URL(url).origin,
  );
  addresses.push(`http://127.0.0.1:${named.port}`, "http://169.254.169.254:80");
  server = stack.use(
    await NpmStart.ready({
      port: await freePort(),
      persistTo,
      args: ["--auth"],
      settings: {
        ALLOWED_EGRESS: addresses.join(", "),
        SANDBOX_URL: sandbox.url,
        SANDBOX_KEY: sandbox.key,
      },
    }),
  );
  key = readFileSync(join(persistTo, "api-key"), "utf8").trim();
});

afterAll(async () => {
  await stack.disposeAsync();
  rmSync(persistTo, { recursive: true, force: true });
});

async function ask(path: string, body?: object, method = "POST"): Promise<unknown> {
  const init: RequestInit = body === undefined ? { method } : jsonInit(body, method);
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${key}`);
  return (await fetch(`${server.url}${path}`, { ...init, headers })).json();
}

let teams = 0;

/** What a team says last. */
async function lastOf(component: JsonObject, task: string): Promise<string> {
  const id = `t${teams++}`;
  expect(await ask("/v1/teams", { id, component })).toMatchObject({ id });
  const { result, error } = (await ask(`/v1/teams/${id}/runs?wait=60`, { task })) as RunInfo;
  const last = result?.messages.at(-1);
  return error?.message ?? (last === undefined ? "" : toText(last));
}

function assistant(config: JsonObject): JsonObject {
  return {
    provider: "autogen_agentchat.agents.AssistantAgent",
    config: { name: "agent", description: "Answers.", ...config },
  };
}

/** An agent that calls a tool and says what it returned. */
function caller(workbench: JsonObject, name: string, args: object): JsonObject {
  const call = { id: "c", name, arguments: JSON.stringify(args) };
  return assistant({
    reflect_on_tool_use: false,
    tool_call_summary_format: "{is_error}: {result}",
    workbench: [workbench],
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
  });
}

/** An agent that sends a request to an address. */
function requester(host: string, port: number): JsonObject {
  const tool = {
    provider: "autogen_ext.tools.http.HttpTool",
    config: {
      name: "ask",
      host,
      port,
      path: "/",
      method: "GET",
      json_schema: { type: "object", properties: {} },
    },
  };
  return caller(
    { provider: "autogen_core.tools.StaticWorkbench", config: { tools: [tool] } },
    "ask",
    {},
  );
}

test("a model server that ALLOWED_EGRESS names is called", async () => {
  const model_client = {
    provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
    config: { model: "gpt-4o", base_url: models.url, api_key: "local" },
  };
  expect(await lastOf(assistant({ model_client }), "hello")).toBe("Hi from here.");
});

test("an HTTP tool calls the named port and no other one", async () => {
  expect(await lastOf(requester("127.0.0.1", named.port), "go")).toBe("False: ok");
  const refused = await lastOf(requester("127.0.0.1", unnamed.port), "go");
  expect(refused).toMatch(/^True: .*"127\.0\.0\.1" is a private or local address/);
  expect(refused).toContain(`ALLOWED_EGRESS: "http://127.0.0.1:${unnamed.port}"`);
  expect(unnamed.requests).toEqual([]);
});

test.for(["[::1]", "localhost", "127.0.0.2", "0.0.0.0", "[::ffff:127.0.0.1]"])(
  "%s is another address than the named one",
  async (host) => {
    const before = named.requests.length;
    expect(await lastOf(requester(host, named.port), "go")).toMatch(
      /^True: .*private or local address/,
    );
    expect(named.requests).toHaveLength(before);
  },
);

test.for(["2130706433", "0x7f.1", "0177.0.0.1", "127.0.0.1."])(
  "%s is the named address, written in another way",
  async (host) => {
    expect(await lastOf(requester(host, named.port), "go")).toBe("False: ok");
  },
);

test("a metadata service is never called, even if it is named", async () => {
  for (const host of ["169.254.169.254", "2852039166", "metadata.google.internal"]) {
    expect(await lastOf(requester(host, 80), "go")).toMatch(/^True: .*metadata service.*never/);
  }
});

test("an MCP server is called", async () => {
  const workbench = {
    provider: "autogen_ext.tools.mcp.McpWorkbench",
    config: { server_params: mcp.params },
  };
  expect(await lastOf(caller(workbench, "echo", { text: "over there" }), "go")).toMatch(
    /^False: .*over there/,
  );
});

test("a webhook is delivered", async () => {
  const hook = { url: receiver.url(), events: ["message"] };
  expect(await ask("/v1/webhooks/hook", hook, "PUT")).toMatchObject({ id: "hook" });
  expect(await ask("/v1/webhooks/hook/test", {})).toMatchObject({ delivered: true, status: 200 });
  const elsewhere = { url: `http://127.0.0.1:${unnamed.port}/`, events: ["message"] };
  expect(await ask("/v1/webhooks/other", elsewhere, "PUT")).toMatchObject({ status: 422 });
});

test("code runs in the sandbox", async () => {
  const runner = {
    provider: "CodeExecutorAgent",
    config: { name: "runner", code_executor: { provider: "SandboxCodeExecutor", config: {} } },
  };
  expect(await lastOf(runner, "```sh\necho $((6 * 7))\n```")).toBe("42\n");
});
