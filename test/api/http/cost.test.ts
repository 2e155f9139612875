import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ComponentModel } from "troupe";
import type { RunInfo } from "#contract/run.ts";
import type { RunTrace } from "#contract/team/trace.ts";
import type { TeamInfo } from "#contract/team.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../support/fake-openai/server.ts";
import { SAMPLE_COMPONENT } from "../../support/sample-component.ts";
import { jsonInit, testApp } from "../../support/http-app.ts";
import { TestWorker } from "../../support/worker.ts";
import { readUntil } from "../../support/read-until.ts";

const WRITER = { prompt_tokens: 1000, completion_tokens: 200 };
const SELECTOR = { prompt_tokens: 400, completion_tokens: 5 };

let openai: FakeOpenAI;
let worker: TestWorker;

beforeAll(async () => {
  openai = await startFakeOpenAI({
    rules: [
      { name: "select", match: { text: "Choose" }, reply: { content: "critic", usage: SELECTOR } },
      { name: "write", reply: { content: "A line.", usage: WRITER } },
    ],
  });
  worker = await TestWorker.start({
    OPENAI_API_KEY: "test-key",
    OPENAI_BASE_URL: `${openai.origin}/v1`,
    SECRETS_KEY: btoa("k".repeat(32)),
    MODEL_PRICES: JSON.stringify({
      "gpt-4o": { input: 2.5, output: 10 },
      "gpt-4o-mini": { input: 0.15, output: 0.6 },
      "gpt-4.1": { input: 2, output: 8, cached_in: 0.5, cache_write: 2.5 },
      "grok-4.5": { input: 1.25, output: 2.5, cached_in: 0.2 },
      "gemini-3-pro-preview": { input: 2, output: 12 },
    }),
  });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await openai[Symbol.asyncDispose]();
});

function client(model: string): ComponentModel {
  return {
    provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
    config: { model },
  };
}

function assistant(name: string, model: string) {
  const tools = { reflect_on_tool_use: false, tool_call_summary_format: "{result}" };
  return {
    provider: "AssistantAgent",
    config: { name, description: name, model_client: client(model), ...tools },
  };
}

async function newTeam(id: string, component: unknown): Promise<void> {
  const response = await worker.fetch("/v1/teams", jsonInit({ id, component }));
  expect(response.status, await response.text()).toBe(201);
}

async function finished(team: string, body: object): Promise<RunInfo> {
  const response = await worker.fetch(`/v1/teams/${team}/runs?wait=60`, jsonInit(body));
  return (await response.json()) as RunInfo;
}

test("a run shows tokens and cost by model, the calls of its manager included", async () => {
  await newTeam("selector", {
    provider: "SelectorGroupChat",
    config: {
      participants: [assistant("writer", "gpt-4o-mini"), assistant("critic", "unpriced")],
      model_client: client("gpt-4o-2024-08-06"),
      selector_prompt: "{roles} {history} {participants} Choose",
      allow_repeated_speaker: true,
      max_turns: 2,
    },
  });
  const run = await finished("selector", { task: "Write." });
  const models = {
    "gpt-4o-2024-08-06": { prompt_tokens: 800, completion_tokens: 10, cost: 0.0021 },
    unpriced: { prompt_tokens: 2000, completion_tokens: 400, cost: null },
  };
  const usage = { prompt_tokens: 2800, completion_tokens: 410 };
  expect(run).toMatchObject({ status: "completed", usage, cost: 0.0021, models });
  expect(Object.keys(run.models)).toHaveLength(2);
  const shown = await worker.fetch("/v1/teams/selector");
  expect(await shown.json()).toMatchObject({ usage, cost: 0.0021 } satisfies Partial<TeamInfo>);
  const page = await worker.fetch("/v1/teams/selector/runs");
  expect(await page.json()).toMatchObject({ runs: [{ usage, cost: 0.0021, models }] });
});

test("a run over its max_cost fails; the team's cost is the sum of its runs", async () => {
  const participants = [assistant("writer", "gpt-4o-mini")];
  await newTeam("costly", {
    provider: "RoundRobinGroupChat",
    config: { participants, max_turns: 3 },
  });
  const failed = await finished("costly", { task: "Write.", max_cost: 0.0003 });
  expect(failed).toMatchObject({
    status: "failed",
    error: {
      type: "cost_limit",
      message: "the run cost 0.00054, more than its limit of 0.0003",
      agent: null,
    },
    cost: 0.00054,
    turns: 2,
  });
  const enough = await finished("costly", { task: "Write.", max_cost: 1 });
  // The team continues where the failed run left it: one of its three turns is left.
  expect(enough).toMatchObject({ status: "completed", cost: 0.00027, turns: 1 });
  const team = (await (await worker.fetch("/v1/teams/costly")).json()) as TeamInfo;
  expect(team.cost).toBe(0.00081);
});

describe("a max_cost is refused", () => {
  test.each([0, -1, "1"])("if it is %j", async (max_cost) => {
    await newTeam(`refused-${max_cost}`, SAMPLE_COMPONENT);
    const response = await worker.fetch(
      `/v1/teams/refused-${max_cost}/runs`,
      jsonInit({ max_cost }),
    );
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ errors: [{ path: "max_cost" }] });
  });

  test("if MODEL_PRICES is not set, which the problem names", async () => {
    const { fetch } = testApp();
    await fetch("/v1/teams", jsonInit({ id: "t", template: "sample" }));
    const response = await fetch("/v1/teams/t/runs", jsonInit({ max_cost: 1 }));
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      code: "invalid_request",
      errors: [{ path: "max_cost", message: expect.stringContaining("MODEL_PRICES") }],
    });
    expect((await fetch("/v1/teams/t/runs", jsonInit({ max_cost: null }))).status).toBe(202);
  });
});

test("invalid MODEL_PRICES stop the service at its first request", async () => {
  await using broken = await TestWorker.start(
    { MODEL_PRICES: '{"gpt-4o": {"input": 2.5}}' },
    { quietAbout: "gpt-4o.output: must be a number of at least 0" },
  );
  const response = await broken.fetch("/v1/templates");
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({ code: "not_configured" });
});

describe("tokens that a server does not report are estimated and marked", () => {
  const task = "x".repeat(4000);
  const words = "word ".repeat(200).trim();

  test("if a streamed answer is read and then stopped", async () => {
    openai.rules.set([{ name: "slow", reply: { content: words }, hold: true, hold_after: [50] }]);
    const writer = assistant("writer", "gpt-4o");
    await newTeam("stopped", {
      ...writer,
      config: { ...writer.config, model_client_stream: true },
    });
    const response = await worker.fetch("/v1/teams/stopped/runs", {
      ...jsonInit({ task }),
      headers: { "content-type": "application/json", accept: "text/event-stream" },
    });
    const id = /[^/]+$/.exec(response.headers.get("location") ?? "")?.[0];
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    await readUntil(reader, (text) => text.split("ModelClientStreamingChunkEvent").length >= 40);
    await worker.fetch(`/v1/teams/stopped/runs/${id}/stop`, jsonInit({ mode: "now" }));
    await reader.cancel();
    const found = await worker.fetch(`/v1/teams/stopped/runs/${id}`);
    const run = (await found.json()) as RunInfo;
    expect(run.status).toBe("cancelled");
    const { prompt_tokens, completion_tokens, estimated_tokens } = run.usage;
    expect(prompt_tokens).toBeGreaterThanOrEqual(1000);
    expect(completion_tokens).toBeGreaterThan(30);
    expect(estimated_tokens).toBe(prompt_tokens + completion_tokens);
    expect(run.cost).toBeGreaterThan(0);
    const day = new Date().toISOString().slice(0, 10);
    // The tenant's figures follow those of its teams.
    await expect
      .poll(async () => {
        const usage = await worker.fetch(`/v1/usage?from=${day}&to=${day}&by=team`);
        const { usage: rows } = (await usage.json()) as { usage: { team: string }[] };
        return rows.find(({ team }) => team === "stopped");
      })
      .toMatchObject(run.usage);
  });

  test("unless the call waits for its next attempt when the run is stopped", async () => {
    const fault = { kind: "status", status: 503, headers: { "retry-after": "20" } } as const;
    openai.rules.set([{ name: "away", fault }]);
    await newTeam("waiting", assistant("writer", "gpt-4o"));
    const response = await worker.fetch("/v1/teams/waiting/runs", {
      ...jsonInit({ task }),
      headers: { "content-type": "application/json", accept: "text/event-stream" },
    });
    const run = response.headers.get("location") ?? "";
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    await readUntil(reader, /event: retrying/);
    await reader.cancel();
    await worker.fetch(`${run}/stop`, jsonInit({ mode: "now" }));
    const stopped = (await (await worker.fetch(run)).json()) as RunInfo;
    expect(stopped.status).toBe("cancelled");
    expect(stopped.usage).toEqual({ prompt_tokens: 0, completion_tokens: 0 });
  });

  test("if an attempt broke off, beside the one that succeeded", async () => {
    openai.rules.set([
      {
        name: "cut",
        times: 1,
        reply: { content: words },
        fault: { kind: "cut", after_chunks: 100 },
      },
      { name: "write", reply: { content: "A line.", usage: WRITER } },
    ]);
    const writer = assistant("writer", "gpt-4o");
    await newTeam("broken", { ...writer, config: { ...writer.config, model_client_stream: true } });
    const { usage, status } = await finished("broken", { task });
    expect(status).toBe("completed");
    const estimated = usage.estimated_tokens ?? 0;
    expect(estimated).toBeGreaterThan(1000);
    expect(usage.prompt_tokens + usage.completion_tokens - estimated).toBe(1200);
  });

  test("if a call was under way when another one failed the run", async () => {
    openai.rules.set([
      { name: "refused", match: { model: "unpriced" }, fault: { kind: "status", status: 400 } },
      { name: "held", match: { model: "gpt-4o" }, reply: { content: words }, delay_ms: 1000 },
    ]);
    const node = (name: string) => ({ name, edges: [], activation: "all" });
    await newTeam("beside", {
      provider: "GraphFlow",
      config: {
        participants: [assistant("quick", "unpriced"), assistant("slow", "gpt-4o")],
        graph: {
          nodes: { quick: node("quick"), slow: node("slow") },
          default_start_node: null,
        },
        max_turns: 2,
      },
    });
    const { status, models } = await finished("beside", { task });
    expect(status).toBe("failed");
    expect(models["gpt-4o"]?.prompt_tokens).toBeGreaterThan(0);
  });

  test("if a server reports no usage, and the estimate counts against max_cost", async () => {
    openai.rules.set([{ name: "silent", reply: { content: words, usage: null } }]);
    await newTeam("silent", {
      provider: "RoundRobinGroupChat",
      config: { participants: [assistant("writer", "gpt-4o")], max_turns: 3 },
    });
    const { status, error, usage } = await finished("silent", { task, max_cost: 0.004 });
    expect(status).toBe("failed");
    expect(error).toMatchObject({ type: "cost_limit" });
    expect(error?.message).toContain("estimated");
    expect(usage.estimated_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
  });
});

test.each(["chat_completions", "responses"])(
  "cached, written and reasoning tokens are shown and cost their own prices: %s",
  async (api) => {
    const usage = {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 200 },
      completion_tokens_details: { reasoning_tokens: 40 },
    };
    openai.rules.set([{ name: "cached", reply: { content: "A line.", usage } }]);
    const team = `cached-${api}`;
    const writer = assistant("writer", "gpt-4.1");
    const { config } = writer.config.model_client;
    const modelClient = { ...writer.config.model_client, config: { ...config, api } };
    await newTeam(team, { ...writer, config: { ...writer.config, model_client: modelClient } });
    const run = await finished(team, { task: "Write." });
    expect(run.models).toEqual({
      "gpt-4.1": {
        prompt_tokens: 1000,
        completion_tokens: 100,
        cached_tokens: 600,
        cache_write_tokens: 200,
        reasoning_tokens: 40,
        // 200 at 2, 600 at 0.5, 200 at 2.5, 100 at 8, per million.
        cost: 0.002,
      },
    });
    expect(run.result?.messages.at(-1)?.models_usage).toEqual({
      prompt_tokens: 1000,
      completion_tokens: 100,
    });
    const trace = await worker.fetch(`/v1/teams/${team}/runs/${run.id}/trace`);
    const { spans } = (await trace.json()) as RunTrace;
    expect(spans.find(({ kind }) => kind === "chat")?.usage).toMatchObject({ cached_tokens: 600 });
  },
);

// https://docs.x.ai/docs/key-information/consumption-and-rate-limits, and Google's server for OpenAI's API
test.each([
  {
    model: "grok-4.5",
    reported: {
      prompt_tokens: 10_120,
      completion_tokens: 1499,
      total_tokens: 14_428,
      prompt_tokens_details: { cached_tokens: 128 },
      completion_tokens_details: { reasoning_tokens: 2809 },
    },
    counted: {
      prompt_tokens: 10_120,
      completion_tokens: 4308,
      cached_tokens: 128,
      reasoning_tokens: 2809,
      cost: 0.0232856,
    },
  },
  {
    model: "gemini-3-pro-preview",
    reported: { prompt_tokens: 20, completion_tokens: 198, total_tokens: 623 },
    counted: { prompt_tokens: 20, completion_tokens: 603, reasoning_tokens: 405, cost: 0.007276 },
  },
])("thinking that $model counts in the total only has its price", async (one) => {
  const { model, reported, counted } = one;
  openai.rules.set([{ name: "thought", reply: { content: "A line.", usage: reported } }]);
  for (const stream of [false, true]) {
    const team = `thinking-${model.replaceAll(".", "-")}-${stream}`;
    const writer = assistant("writer", model);
    const { provider, config } = writer.config.model_client;
    const server = { base_url: `${openai.origin}/v1`, api_key: "test-key" };
    const model_client = { provider, config: { ...config, ...server } };
    await newTeam(team, {
      ...writer,
      config: { ...writer.config, model_client, model_client_stream: stream },
    });
    const run = await finished(team, { task: "Write." });
    expect(run.models).toEqual({ [model]: counted });
  }
});
