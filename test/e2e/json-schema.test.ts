import type { RunInfo } from "#contract/run.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EchoServer } from "../support/echo-server.ts";
import { jsonInit } from "../support/http-app.ts";
import { TestWorker } from "../support/worker.ts";

/** Backtracking engines need 2^40 steps to find that this does not match. */
const PATTERN = "^(a+)+$";
const TEXT = `${"a".repeat(40)}!`;

let worker: TestWorker;
let server: EchoServer;

beforeAll(async () => {
  server = await EchoServer.start();
  worker = await TestWorker.start({}, { quietAbout: "MessageError" });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

function schema(pattern = PATTERN): object {
  return { type: "object", properties: { text: { type: "string", pattern } }, required: ["text"] };
}

/** A team of one agent whose model answers once. */
function team(completions: unknown[], config: object): object {
  const model_info = {
    vision: false,
    function_calling: true,
    json_output: true,
    structured_output: true,
    family: "unknown",
  };
  const model_client = {
    provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
    config: { chat_completions: completions, model_info },
  };
  const agent = {
    provider: "autogen_agentchat.agents.AssistantAgent",
    config: {
      name: "agent",
      description: "",
      reflect_on_tool_use: false,
      tool_call_summary_format: "{result}",
      model_client,
      ...config,
    },
  };
  return {
    provider: "autogen_agentchat.teams.RoundRobinGroupChat",
    config: { participants: [agent], max_turns: 1 },
  };
}

function withTool(json_schema: object): object {
  const config = { name: "tool", description: "", scheme: "http", host: "127.0.0.1", path: "/" };
  const tool = {
    provider: "autogen_ext.tools.http.HttpTool",
    config: { ...config, port: server.port, json_schema },
  };
  const workbench = { provider: "autogen_core.tools.StaticWorkbench", config: { tools: [tool] } };
  const calls = {
    finish_reason: "function_calls",
    content: [{ id: "c", name: "tool", arguments: JSON.stringify({ text: TEXT }) }],
    usage: { prompt_tokens: 1, completion_tokens: 1 },
    cached: false,
  };
  return team([calls], { workbench: [workbench] });
}

async function run(id: string, component: object): Promise<RunInfo> {
  const created = await worker.fetch("/v1/teams", jsonInit({ id, component }));
  expect(await created.text()).toContain(`"id":"${id}"`);
  const started = await worker.fetch(`/v1/teams/${id}/runs?wait=60`, jsonInit({ task: "Go" }));
  return (await started.json()) as RunInfo;
}

test("a tool whose pattern a backtracking engine never finishes gives an error result", async () => {
  const { status, result } = await run("tool", withTool(schema()));
  expect(status).toBe("completed");
  expect(JSON.stringify(result)).toContain(`text: must match the pattern ${PATTERN}`);
  expect(server.requests).toEqual([]);
  expect((await worker.fetch("/v1/teams/tool")).status).toBe(200);
});

test("structured output with such a pattern fails the run", async () => {
  const output_content_type_format = null;
  const structured_message_factory = {
    provider: "autogen_agentchat.messages.StructuredMessageFactory",
    config: { json_schema: schema(), content_model_name: "Answer" },
  };
  const config = { structured_message_factory, output_content_type_format };
  // The second answer is to the question for a repair.
  const answer = JSON.stringify({ text: TEXT });
  const { status, error } = await run("output", team([answer, answer], config));
  expect(status).toBe("failed");
  expect(JSON.stringify(error)).toContain(`text: must match the pattern ${PATTERN}`);
  expect((await worker.fetch("/v1/teams/output")).status).toBe(200);
});

test("a format that has no effect loads, is named in the notes, and does not fail the run", async () => {
  const structured_message_factory = {
    provider: "autogen_agentchat.messages.StructuredMessageFactory",
    config: {
      json_schema: { type: "object", properties: { points: { type: "number" } } },
      format_string: "{points:+#.3g} of {points:,.1f}",
      content_model_name: "Answer",
    },
  };
  const component = team([JSON.stringify({ points: 1234.5 })], { structured_message_factory });
  const validated = await worker.fetch("/v1/components/validate", jsonInit({ component }));
  expect(await validated.json()).toMatchObject({
    notes: [
      {
        path: "component.config.participants[0].config.structured_message_factory.config.format_string",
        message: expect.stringContaining('"{points:+#.3g}" is shown without its format') as string,
      },
    ],
  });
  const { status } = await run("format", component);
  expect(status).toBe("completed");
});

test("a pattern that cannot be matched in linear time is refused, with its place", async () => {
  const component = withTool(schema("(a+)\\1"));
  const validated = await worker.fetch("/v1/components/validate", jsonInit({ component }));
  const answer = await validated.text();
  expect(answer).toContain("pattern at properties.text.pattern cannot be used: back references");
  const created = await worker.fetch("/v1/teams", jsonInit({ component }));
  expect(created.status).toBe(422);
});
