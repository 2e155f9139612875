import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "troupe";
import type { RunInfo } from "#contract/run.ts";
import { PEER_PACKAGES } from "../peers/packages.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../support/fake-openai/server.ts";
import { jsonInit } from "../support/http-app.ts";
import { Sandbox } from "../support/sandbox.ts";
import { TestWorker } from "../support/worker.ts";

const modules = join(PEER_PACKAGES, "@modelcontextprotocol");

/** A model that answers each task with a call of a tool, and a tool's result with its text. */
const RULES = [
  {
    name: "say the sum",
    match: { role: "tool", text: "sum of 2 and 3 is 5" },
    reply: { content: "It is 5." },
  },
  {
    name: "add",
    match: { user: "Add 2 and 3." },
    reply: { tool_calls: [{ name: "get-sum", arguments: { a: 2, b: 3 } }] },
  },
  {
    name: "say what was written",
    match: { role: "tool", text: "Successfully wrote to note.txt" },
    reply: { content: "It is written." },
  },
  {
    name: "write",
    match: { user: "Write a note." },
    reply: {
      tool_calls: [{ name: "write_file", arguments: { path: "note.txt", content: "a note" } }],
    },
  },
  {
    name: "name the directory",
    match: { role: "tool", text: "Allowed directories" },
    reply: { content: "I know my directory." },
  },
  {
    name: "ask for the directory",
    match: { user: "Where do you work?" },
    reply: { tool_calls: [{ name: "list_allowed_directories" }] },
  },
] as const;

let openai: FakeOpenAI;
let sandbox: Sandbox;
let worker: TestWorker;

beforeAll(async () => {
  openai = await startFakeOpenAI({ rules: structuredClone(RULES) as never });
  sandbox = await Sandbox.start({
    settings: { SANDBOX_MCP: "1", SANDBOX_READABLE: PEER_PACKAGES },
  });
  worker = await TestWorker.start({
    SANDBOX_URL: sandbox.url,
    SANDBOX_KEY: sandbox.key,
    SECRETS_KEY: btoa("k".repeat(32)),
  });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
  await openai.close();
});

/** A server from npm. */
const fromNpm = (name: string, ...args: string[]): string[] => [
  join(modules, `server-${name}/dist/index.js`),
  ...args,
];

/** A server whose tool asks the client for its roots and answers with the first of them. */
const ASKS_FOR_ROOTS = `
  const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
  let called;
  require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, result } = JSON.parse(line);
    if (method === "initialize")
      send({ id, result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "roots", version: "1" } } });
    else if (method === "tools/list")
      send({ id, result: { tools: [{ name: "list_allowed_directories", inputSchema: { type: "object" } }] } });
    else if (method === "tools/call") {
      called = id;
      send({ id: "roots", method: "roots/list" });
    } else if (id === "roots")
      send({ id: called, result: { content: [{ type: "text", text: "Allowed directories: " + result.roots[0].uri }] } });
    else if (id !== undefined) send({ id, error: { code: -32601, message: "no such method" } });
  });`;

/** An agent with the tools of a server that runs as a program of Node. */
const agent = (args: string[]): JsonObject => ({
  provider: "autogen_agentchat.agents.AssistantAgent",
  component_type: "agent",
  config: {
    name: "clerk",
    description: "Uses the tools.",
    reflect_on_tool_use: true,
    workbench: [
      {
        provider: "autogen_ext.tools.mcp.McpWorkbench",
        component_type: "workbench",
        config: {
          server_params: {
            type: "StdioServerParams",
            command: "node",
            args,
            read_timeout_seconds: 30,
          },
        },
      },
    ],
    model_client: {
      provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
      component_type: "model",
      config: {
        model: "fake",
        base_url: openai.url,
        api_key: "sk-test",
        model_info: {
          vision: false,
          function_calling: true,
          json_output: true,
          structured_output: true,
          family: "unknown",
        },
      },
    },
  },
});

async function run(team: string, component: JsonObject, task: string): Promise<RunInfo> {
  const created = await worker.fetch("/v1/teams", jsonInit({ id: team, component }));
  expect(created.status, await created.text()).toBe(201);
  const started = await worker.fetch(`/v1/teams/${team}/runs`, jsonInit({ task }));
  const { id } = (await started.json()) as RunInfo;
  let last: RunInfo | undefined;
  await expect
    .poll(async () => {
      const response = await worker.fetch(`/v1/teams/${team}/runs/${id}`);
      last = (await response.json()) as RunInfo;
      return last.status;
    })
    .toBe("completed");
  return last as RunInfo;
}

const contents = ({ result }: RunInfo): unknown[] =>
  result?.messages.flatMap((message) => ("content" in message ? [message.content] : [])) ?? [];

test("an agent in the Worker calls a tool of a program in the sandbox", async () => {
  const ended = await run("adds", agent(fromNpm("everything")), "Add 2 and 3.");
  expect(contents(ended)).toEqual([
    "Add 2 and 3.",
    [expect.objectContaining({ name: "get-sum" })],
    [
      expect.objectContaining({
        name: "get-sum",
        content: expect.stringContaining("5"),
        is_error: false,
      }),
    ],
    "It is 5.",
  ]);
});

test("a file that the program has written is a file of the team", async () => {
  const component = agent(fromNpm("filesystem", "."));
  const ended = await run("writes", component, "Write a note.");
  expect(contents(ended).at(-1)).toBe("It is written.");
  // Files are kept when the program ends; a replaced component closes its connections.
  const replaced = await worker.fetch("/v1/teams/writes/component", {
    ...jsonInit({ component }),
    method: "PUT",
  });
  expect(replaced.status, await replaced.text()).toBe(200);
  const file = () => worker.fetch("/v1/teams/writes/files/note.txt");
  await expect.poll(async () => (await file()).status).toBe(200);
  expect(await (await file()).text()).toBe("a note");
});

test("a program without directories of its own has the workspace as its root", async () => {
  const ended = await run("asks", agent(["-e", ASKS_FOR_ROOTS]), "Where do you work?");
  expect(contents(ended).at(-1)).toBe("I know my directory.");
  expect(JSON.stringify(contents(ended))).toMatch(/Allowed directories: file:[^"]*workspace/);
});
