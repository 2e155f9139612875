import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "troupe";
import type { RunInfo } from "#contract/run.ts";
import { TestMcpServer } from "../components/mcp/support/test-server.ts";
import { jsonInit } from "../support/http-app.ts";
import { TestWorker } from "../support/worker.ts";
import { readUntil } from "../support/read-until.ts";

let worker: TestWorker;
let server: TestMcpServer;

beforeAll(async () => {
  server = await TestMcpServer.start();
  worker = await TestWorker.start();
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const usage = { prompt_tokens: 1, completion_tokens: 1 };

const calls = (name: string, args: JsonObject = {}) => ({
  finish_reason: "function_calls",
  content: [{ id: "c", name, arguments: JSON.stringify(args) }],
  usage,
  cached: false,
});

/** An agent with the server's tools, whose model gives these answers. */
const agent = (answers: (string | object)[], workbench: object = {}) => ({
  provider: "autogen_agentchat.agents.AssistantAgent",
  config: {
    name: "clerk",
    description: "Uses the tools.",
    reflect_on_tool_use: false,
    max_tool_iterations: answers.length,
    tool_call_summary_format: "{result}",
    workbench: [
      {
        provider: "autogen_ext.tools.mcp.McpWorkbench",
        config: { server_params: server.params, ...workbench },
      },
    ],
    model_client: {
      provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
      config: {
        chat_completions: answers,
        model_info: {
          vision: false,
          function_calling: true,
          json_output: false,
          structured_output: false,
          family: "unknown",
        },
      },
    },
  },
});

async function post<T>(path: string, body: object, at = worker): Promise<T> {
  const response = await at.fetch(path, jsonInit(body));
  expect(response.ok, await response.clone().text()).toBe(true);
  return (await response.json()) as T;
}

async function start(id: string, component: object, at = worker): Promise<string> {
  await post("/v1/teams", { id, component }, at);
  const { id: run } = await post<RunInfo>(`/v1/teams/${id}/runs`, { task: "go" }, at);
  return `/v1/teams/${id}/runs/${run}`;
}

/** The run once it has one of these statuses. */
async function until(path: string, statuses: string[], at = worker): Promise<RunInfo> {
  let run: RunInfo | undefined;
  await expect
    .poll(async () => {
      run = (await (await at.fetch(path)).json()) as RunInfo;
      return run.status;
    })
    .toSatisfy((status: string) => statuses.includes(status));
  return run as RunInfo;
}

const texts = (run: RunInfo): unknown[] =>
  run.result?.messages.flatMap((message) => ("content" in message ? [message.content] : [])) ?? [];

describe("an agent with the tools of an MCP server, in the Worker", () => {
  test.each(["modern", "sessions", "sse"] as const)(
    "lists them, calls them and reads their errors (%s)",
    async (kind) => {
      await using other = await TestMcpServer.start(kind);
      const path = await start(
        `calls-${kind}`,
        agent([calls("echo", { text: "hi" }), calls("fail"), "It is done."], {
          server_params: other.params,
        }),
      );
      const run = await until(path, ["completed"]);
      const results = (content: string, is_error: boolean, name: string) => [
        { content, name, call_id: "c", is_error },
      ];
      expect(texts(run)).toEqual([
        "go",
        calls("echo", { text: "hi" }).content,
        results("echo: hi", false, "echo"),
        calls("fail").content,
        results("no such city", true, "fail"),
        "It is done.",
      ]);
    },
  );

  test("asks a human about a call", async () => {
    const path = await start("approval", agent([calls("pay")], { approval: "human" }));
    const { requests } = await until(path, ["waiting"]);
    expect(requests).toMatchObject([{ kind: "approval", tool_call: { name: "pay" } }]);
    await post(`${path}/requests/${requests[0]?.id}`, { approved: true, arguments: { amount: 5 } });
    const run = await until(path, ["completed"]);
    expect(texts(run).at(-1)).toContain("paid 5");
  });

  test("asks a human the question of the server", async () => {
    const elicitor = { provider: "autogen_ext.tools.mcp.StdioElicitor", config: {} };
    const host = { provider: "autogen_ext.tools.mcp.McpSessionHost", config: { elicitor } };
    const path = await start("elicitation", agent([calls("confirm")], { host }));
    const { requests } = await until(path, ["waiting"]);
    expect(requests).toMatchObject([{ kind: "input", source: "clerk" }]);
    await post(`${path}/requests/${requests[0]?.id}`, { content: '{"color": "blue"}' });
    const run = await until(path, ["completed"]);
    expect(texts(run).at(-1)).toBe('{"action":"accept","content":{"color":"blue"}}');
  });

  test("shows its progress, and is cancelled together with the call", async () => {
    const before = server.tools.calls.length;
    const path = await start("cancelled", agent([calls("slow", { steps: 400 })]));
    const events = await worker.fetch(`${path}/events`);
    const reader = events.body!.getReader();
    const seen = await readUntil(reader, /step 3/);
    expect(seen).toContain("ModelClientStreamingChunkEvent");
    await post(`${path}/stop`, { mode: "now" });
    await reader.cancel();
    expect((await until(path, ["cancelled"])).status).toBe("cancelled");
    await expect.poll(() => server.tools.calls[before]?.cancelled).toBe(true);
  });

  test("is refused where it is written if its workbench has no sandbox", async () => {
    const stdio = { type: "StdioServerParams", command: "uvx", args: ["mcp-server-fetch"] };
    const body = { component: agent(["x"], { server_params: stdio }) };
    const response = await worker.fetch("/v1/components/validate", jsonInit(body));
    expect(response.status).toBe(422);
    const { errors } = (await response.json()) as { errors: { path: string; message: string }[] };
    expect(errors[0]).toMatchObject({
      path: "component.config.workbench[0].config.server_params.command",
      message: expect.stringContaining("SANDBOX_MCP=1"),
    });
  });
});

test("a run whose Worker and server are killed in the middle of a call ends, and a read is made again", async () => {
  const persistTo = await mkdtemp(join(tmpdir(), "mcp-"));
  const kept = await TestMcpServer.start("sessions");
  kept.tools.list = kept.tools.list.map((tool) =>
    tool["name"] === "slow" ? { ...tool, annotations: { readOnlyHint: true } } : tool,
  );
  try {
    const component = agent([calls("slow", { steps: 20 }), "It is done."], {
      server_params: kept.params,
    });
    let path: string;
    {
      await using first = await TestWorker.start({}, { persistTo });
      path = await start("killed", component, first);
      await expect.poll(() => kept.tools.calls.length).toBe(1);
    }
    kept.forget();
    await using second = await TestWorker.start({}, { persistTo, quietAbout: "run_recovered" });
    const run = await until(path, ["completed"], second);
    expect(texts(run).at(-1)).toBe("It is done.");
    const keys = kept.tools.calls.map(({ meta }) => meta["troupe/idempotency-key"]);
    expect(new Set(keys).size).toBe(1);
    expect(keys.length).toBeGreaterThan(1);
  } finally {
    await kept[Symbol.asyncDispose]();
    await rm(persistTo, { recursive: true, force: true });
  }
});
