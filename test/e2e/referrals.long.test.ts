import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "troupe";
import type { RunInfo } from "#contract/run.ts";
import { jsonInit } from "../support/http-app.ts";
import { TestWorker } from "../support/worker.ts";

const SERVICE = "http://127.0.0.1:4711";

let worker: TestWorker;
let asked: string[] = [];
let teams = 0;

const started = (settings: Record<string, string> = {}): Promise<TestWorker> =>
  TestWorker.start({ SECRETS_KEY: btoa("k".repeat(32)), ...settings }, { outgoing: internet });

beforeAll(async () => {
  worker = await started();
});
afterAll(() => worker[Symbol.asyncDispose]());

afterEach(() => {
  asked = [];
});

const json = (body: object, init: ResponseInit = {}): Response =>
  Response.json(body, { headers: { "content-type": "application/json" }, ...init });

/** The card of an agent at this URL. */
const card = (url: string): Response =>
  json({
    name: "remote",
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    capabilities: {},
  });

const said = (text: string): Response =>
  json({
    jsonrpc: "2.0",
    id: 1,
    result: { message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text }] } },
  });

/** Public servers that name an address of this machine, and a service there. */
function internet({ url }: Request): Response {
  asked.push(url);
  const { origin, pathname } = new URL(url);
  if (pathname.endsWith("agent-card.json")) return card(`${SERVICE}/rpc`);
  if (pathname === "/rpc") return said("from this machine");
  if (origin === "https://mcp.example") {
    const metadata = `Bearer resource_metadata="${SERVICE}/metadata"`;
    return json({}, { status: 401, headers: { "www-authenticate": metadata } });
  }
  return json({}, { status: 404 });
}

async function runOf(component: JsonObject, on = worker): Promise<RunInfo> {
  const id = `team-${++teams}`;
  const created = await on.fetch("/v1/teams", jsonInit({ id, component }));
  expect(created.status, await created.clone().text()).toBe(201);
  const run = await on.fetch(`/v1/teams/${id}/runs?wait=60`, jsonInit({ task: "go" }));
  return (await run.json()) as RunInfo;
}

const agent = (url: string): JsonObject => ({
  provider: "troupe.agents.A2AAgent",
  config: { name: "remote", url },
});

test("a card that comes from elsewhere may not name an address of this machine", async () => {
  const run = await runOf(agent("https://agents.example/"));
  expect(run.error).toMatchObject({ type: "egress_denied" });
  expect(run.error?.message).toContain('"agents.example" names "127.0.0.1:4711"');
  expect(asked).toEqual(["https://agents.example/.well-known/agent-card.json"]);
});

test("a card that comes from this machine may name one", async () => {
  const run = await runOf(agent("http://localhost:4000/"));
  expect(run.status, JSON.stringify(run.error)).toBe("completed");
  expect(asked.at(-1)).toBe(`${SERVICE}/rpc`);
});

test("a card may name the addresses that the settings name", async () => {
  await using other = await started({ ALLOWED_EGRESS: "agents.example,127.0.0.1:4711" });
  const run = await runOf(agent("https://agents.example/"), other);
  expect(run.status, JSON.stringify(run.error)).toBe("completed");
  expect(asked.at(-1)).toBe(`${SERVICE}/rpc`);
});

test("the 401 of an MCP server may not name an address of this machine", async () => {
  const run = await runOf({
    provider: "autogen_agentchat.agents.AssistantAgent",
    config: {
      name: "helper",
      model_client: {
        provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
        config: { model: "gpt-4o", api_key: "unused" },
      },
      workbench: [
        {
          provider: "autogen_ext.tools.mcp.McpWorkbench",
          config: {
            server_params: {
              type: "StreamableHttpServerParams",
              url: "https://mcp.example/mcp",
              oauth: { client_id: "c", client_secret: "s", issuer: "https://login.example" },
            },
          },
        },
      ],
    },
  });
  expect(run.status).toBe("failed");
  expect(asked).toContain("https://mcp.example/mcp");
  expect(asked.filter((url) => url.startsWith(SERVICE))).toEqual([]);
});
