import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { jsonInit } from "../../../../support/http-app.ts";
import { TestWorker } from "../../../../support/worker.ts";
import { bearer, deployed } from "../../support/access.ts";
import { HUMAN, inTurn } from "../../support/teams.ts";
import { CLIENTS, connect, type ToolResult } from "../support/clients.ts";
import { firstOf, initialize, lastOf, post, request, VERSION } from "../support/messages.ts";
import { ask } from "../support/tasks.ts";

const TOOL = {
  name: "check_invoice",
  description: "Checks an invoice.",
  input_schema: {
    type: "object",
    required: ["number"],
    properties: {
      number: { type: "string" },
      total: { type: "number", minimum: 0 },
      currency: { type: "string", default: "EUR" },
    },
  },
  task: "Check {{ number }} of {{ total }} {{ currency }}.",
};
const TYPED = {
  ...TOOL,
  name: "judge",
  output_schema: { type: "object", required: ["pay"], properties: { pay: { type: "boolean" } } },
};

let persistTo: string;
let settings: Record<string, string>;
let worker: TestWorker;

beforeAll(async () => {
  persistTo = await mkdtemp(join(tmpdir(), "mcp-tools-"));
  settings = await deployed({ MCP_TEMPLATES: "none" });
  worker = await TestWorker.start(settings, { persistTo });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await rm(persistTo, { recursive: true, force: true });
});

/** An agent that says these lines, one for each task. */
function says(...responses: string[]): object {
  return {
    provider: "autogen_agentchat.agents.AssistantAgent",
    component_type: "agent",
    config: {
      name: "clerk",
      description: "Checks.",
      model_client: {
        provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
        component_type: "replay_chat_completion_client",
        config: { chat_completions: responses },
      },
    },
  };
}

async function api(method: string, path: string, body?: object, key = "acme") {
  const init =
    body === undefined ? { method, headers: bearer(key) } : jsonInit(body, method, bearer(key));
  const response = await worker.fetch(path, init);
  const text = await response.text();
  return { status: response.status, body: text === "" ? null : (JSON.parse(text) as Problem) };
}

interface Problem {
  code?: string;
  name?: string;
  tool?: typeof TOOL;
  errors?: { path: string; message: string }[];
}

async function call(name: string, given: object, key = "acme", capabilities: object = {}) {
  const params = { name, arguments: given };
  const { result, error } = await ask(worker, "tools/call", params, {
    headers: bearer(key),
    capabilities,
  });
  return { error, result: result as unknown as ToolResult };
}

async function tools(key = "acme", path = "/mcp"): Promise<{ name: string }[]> {
  const { result } = await ask(worker, "tools/list", {}, { headers: bearer(key), path });
  return (result as unknown as { tools: { name: string }[] }).tools;
}

test("a team is made with a tool of its own, which takes the place of run_", async () => {
  const made = await api("POST", "/v1/teams", {
    id: "billing",
    component: says("Fine.", "Good.", "Right."),
    tool: TOOL,
  });
  expect(made.status).toBe(201);
  expect(made.body?.tool).toMatchObject(TOOL);
  expect((await api("GET", "/v1/teams/billing")).body?.tool).toMatchObject(TOOL);
  const listed = await tools();
  expect(listed.map(({ name }) => name)).not.toContain("run_billing");
  expect(listed.at(-1)).toMatchObject({
    name: "check_invoice",
    description: "Checks an invoice.",
    inputSchema: TOOL.input_schema,
  });
  expect((await tools("acme", "/mcp/teams/billing")).map(({ name }) => name)).toEqual([
    "run_billing",
    "get_run",
    "answer_request",
    "stop_run",
  ]);
  const called = await call("list_teams", {});
  expect(called.result.structuredContent).toMatchObject({
    teams: [{ id: "billing", description: "Checks an invoice.", tool: "check_invoice" }],
  });
  expect((await tools("globex")).map(({ name }) => name)).not.toContain("check_invoice");
  expect((await call("check_invoice", { number: "4711" }, "globex")).error?.message).toContain(
    "no tool",
  );
});

test.each(CLIENTS)("a client of %s calls it with arguments, which make the task", async (name) => {
  const url = new URL("/mcp", await worker.origin);
  await using client = await connect(name, { url, headers: bearer("acme") });
  await client.client.listTools();
  const result = await client.call({ name: TOOL.name, arguments: { number: "4711", total: 12.5 } });
  expect(result.structuredContent).toMatchObject({ team_id: "billing", status: "completed" });
  const run = await api("GET", `/v1/teams/billing/runs/${result.structuredContent!.run_id}`);
  expect(JSON.stringify(run.body)).toContain("Check 4711 of 12.5 EUR.");
});

test("arguments that do not fit are an error that names each, and no run begins", async () => {
  const { result } = await call(TOOL.name, { total: "much" });
  expect(result.isError).toBe(true);
  expect(result.content[0]?.text).toMatch(/- number: .*\n- total: |- total: .*\n- number: /);
  expect(result.structuredContent).toBeUndefined();
});

test("a name is unique in the tenant, and none of Troupe's own", async () => {
  expect((await api("POST", "/v1/teams", { id: "second", component: says("x") })).status).toBe(201);
  const taken = await api("PUT", "/v1/teams/second/tool", TOOL);
  expect(taken).toMatchObject({
    status: 409,
    body: { code: "tool_name_taken", errors: [{ path: "name" }] },
  });
  const made = await api("POST", "/v1/teams", { id: "third", component: says("x"), tool: TOOL });
  expect(made).toMatchObject({ status: 409, body: { errors: [{ path: "tool.name" }] } });
  expect((await api("GET", "/v1/teams/third")).status).toBe(404);
  for (const name of [
    "run_second",
    "run_team",
    "list_teams",
    "get_run",
    "answer_request",
    "stop_run",
  ]) {
    const own = await api("PUT", "/v1/teams/second/tool", { ...TOOL, name });
    expect([name, own.status, own.body?.code]).toEqual([name, 409, "tool_name_taken"]);
  }
  // Another tenant has names of its own.
  const other = { id: "theirs", component: says("x"), tool: TOOL };
  expect((await api("POST", "/v1/teams", other, "globex")).status).toBe(201);
  // A team that cannot be made leaves the tool of the one with its id as it is.
  const again = { id: "billing", component: says("x"), tool: { ...TOOL, description: "Other." } };
  expect((await api("POST", "/v1/teams", again)).status).toBe(409);
  expect((await api("GET", "/v1/teams/billing/tool")).body).toMatchObject(TOOL);
});

test.each([
  ["name", { name: "check invoice" }],
  ["description", { description: "" }],
  ["input_schema", { input_schema: { type: "string" } }],
  ["input_schema", { input_schema: { type: "object", properties: { a: { $ref: "#/nowhere" } } } }],
  ["output_schema", { output_schema: { type: "object", title: "x".repeat(20_000) } }],
  ["task", { task: "Check {{ number" }],
  ["more", { more: 1 }],
])("a wrong %s is refused with its place", async (path, change) => {
  const { status, body } = await api("PUT", "/v1/teams/second/tool", {
    ...TOOL,
    name: "other",
    ...change,
  });
  expect(status).toBe(422);
  expect(JSON.stringify(body?.errors)).toContain(path);
});

test("the JSON of the last message is the content of a tool with a schema of its output, and an unfit one an error", async () => {
  const lines = ['{"pay": true}', '```json\n{"pay": false}\n```', '{"pay": "yes"}', "No."];
  const body = { id: "judge", component: says(...lines), tool: TYPED };
  expect((await api("POST", "/v1/teams", body)).status).toBe(201);
  const given = { number: "1" };
  expect((await call("judge", given)).result).toMatchObject({ structuredContent: { pay: true } });
  const url = new URL("/mcp", await worker.origin);
  await using client = await connect("2025-11-25, SDK 1", { url, headers: bearer("acme") });
  await client.client.listTools();
  const checked = await client.call({ name: "judge", arguments: given });
  expect(checked).toMatchObject({ structuredContent: { pay: false } });
  for (const why of ["pay ", "not a JSON object"]) {
    const unfit = await client.call({ name: "judge", arguments: given });
    expect(unfit.isError).toBe(true);
    expect(unfit.structuredContent).toBeUndefined();
    expect(unfit.content[0]?.text).toContain(why);
    expect(unfit._meta?.["troupe/run"]).toMatchObject({ team_id: "judge", status: "completed" });
  }
});

test("a run that waits for a human is an error of a typed tool that says how to answer", async () => {
  const component = inTurn(HUMAN);
  const body = { id: "asks", component, tool: { ...TYPED, name: "ask_first" } };
  expect((await api("POST", "/v1/teams", body)).status).toBe(201);
  const { result } = await call("ask_first", { number: "1" });
  expect(result.isError).toBe(true);
  expect(result.content[0]?.text).toContain("answer_request");
});

test("a client whose connection was cut gets the result of the tool after it came back", async () => {
  const body = { id: "cut", component: says('{"pay": true}'), tool: { ...TYPED, name: "cut" } };
  expect((await api("POST", "/v1/teams", body)).status).toBe(201);
  const session = await initialize(worker, {}, { headers: bearer("acme") });
  const headers = { ...bearer("acme"), "mcp-session-id": session };
  const asked = request(1, "tools/call", { name: "cut", arguments: { number: "1" } });
  const first = await firstOf(await post(worker, asked, { headers }));
  const [, id = ""] = /^id: (\S+)/.exec(first) ?? [];
  const response = await worker.fetch("/mcp", {
    headers: {
      ...headers,
      accept: "text/event-stream",
      "mcp-protocol-version": VERSION,
      "last-event-id": id,
    },
  });
  expect((await lastOf(response)).result).toMatchObject({ structuredContent: { pay: true } });
});

test("a fork keeps the tool under the next free name", async () => {
  for (const [id, name] of [
    ["fork-a", "check_invoice_2"],
    ["fork-b", "check_invoice_3"],
  ]) {
    const { status, body } = await api("POST", "/v1/teams/billing/fork", { id });
    expect([status, body?.tool?.name]).toEqual([201, name]);
    expect(body?.tool).toMatchObject({ ...TOOL, name });
  }
  const draft = { id: "draft", metadata: { playground: true } };
  expect((await api("POST", "/v1/teams/billing/fork", draft)).status).toBe(201);
  expect((await api("GET", "/v1/teams/draft/tool")).body?.code).toBe("tool_not_found");
});

test("a tool is deleted by itself and with its team, and its name is free again", async () => {
  expect((await api("DELETE", "/v1/teams/fork-a/tool")).status).toBe(204);
  expect((await api("GET", "/v1/teams/fork-a/tool")).body?.code).toBe("tool_not_found");
  expect((await api("DELETE", "/v1/teams/fork-b")).status).toBe(204);
  const name = "check_invoice_3";
  await expect
    .poll(async () => (await api("PUT", "/v1/teams/second/tool", { ...TOOL, name })).status)
    .toBe(200);
  expect((await tools()).map((one) => one.name)).toContain("run_fork-a");
});

test("kill -9 keeps the tools", async () => {
  await worker[Symbol.asyncDispose]();
  worker = await TestWorker.start(settings, { persistTo });
  expect((await api("GET", "/v1/teams/billing/tool")).body).toMatchObject(TOOL);
  const names = (await tools()).map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining(["check_invoice", "check_invoice_3", "judge", "ask_first"]),
  );
  expect((await api("PUT", "/v1/teams/fork-a/tool", TOOL)).status).toBe(409);
});
