import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import type { MessagePage } from "#contract/team.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../support/fake-openai/server.ts";
import { jsonInit } from "../support/http-app.ts";
import { TestWorker } from "../support/worker.ts";

const ANTHROPIC = "autogen_ext.models.anthropic.AnthropicChatCompletionClient";
const WORKERS_AI = "troupe.models.WorkersAIChatCompletionClient";

let worker: TestWorker;
let models: FakeOpenAI;

beforeAll(async () => {
  models = await startFakeOpenAI({
    rules: [
      {
        name: "answer",
        match: { role: "tool" },
        reply: { content: "It is done.", usage: { prompt_tokens: 20, completion_tokens: 4 } },
      },
      {
        name: "call",
        reply: {
          content: "On it.",
          tool_calls: [{ name: "transfer_to_user", arguments: {} }],
          usage: { prompt_tokens: 10, completion_tokens: 3 },
        },
      },
    ],
  });
  worker = await TestWorker.start(
    {
      SECRETS_KEY: btoa("k".repeat(32)),
      ANTHROPIC_API_KEY: "key-of-the-worker",
      SECRET_HOSTS: JSON.stringify({ ANTHROPIC_API_KEY: [new URL(models.origin).host] }),
    },
    { ai: models.origin },
  );
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await models.close();
});

/** Two turns of one agent: it hands off, and answers after the human's words. */
const teamOf = (model_client: object, stream: boolean) => ({
  provider: "autogen_agentchat.teams.RoundRobinGroupChat",
  config: {
    participants: [
      {
        provider: "autogen_agentchat.agents.AssistantAgent",
        config: {
          name: "helper",
          description: "helps",
          model_client,
          handoffs: [{ target: "user" }],
          model_client_stream: stream,
          reflect_on_tool_use: false,
          tool_call_summary_format: "{result}",
        },
      },
    ],
    max_turns: 1,
  },
});

const clients = (): [string, object, string][] => [
  [
    "anthropic",
    { provider: ANTHROPIC, config: { model: "claude-sonnet-4-5", base_url: models.origin } },
    "/v1/messages",
  ],
  [
    "workers-ai",
    { provider: WORKERS_AI, config: { model: "@cf/openai/gpt-oss-120b" } },
    "/run?version=3",
  ],
];

test.each([0, 1].flatMap((index) => [true, false].map((stream) => [index, stream] as const)))(
  "client %i runs a team in the deployed Worker, streaming: %s",
  async (index, stream) => {
    const [name, client, path] = clients()[index]!;
    const id = `${name}-${stream}`;
    const before = models.requests.length;
    const created = await worker.fetch(
      "/v1/teams",
      jsonInit({ id, component: teamOf(client, stream) }),
    );
    expect(await created.json()).toMatchObject({ id });
    expect(created.status).toBe(201);

    const first = await worker.fetch(
      `/v1/teams/${id}/runs?wait=60`,
      jsonInit({ task: "Please do it." }),
    );
    expect(await first.json()).toMatchObject({
      status: "completed",
      error: null,
      usage: { prompt_tokens: 10, completion_tokens: 3 },
    });
    const second = await worker.fetch(`/v1/teams/${id}/runs?wait=60`, jsonInit({ task: "Now." }));
    expect((await second.json()) as RunInfo).toMatchObject({ status: "completed", error: null });

    const { messages } = (await (
      await worker.fetch(`/v1/teams/${id}/messages`)
    ).json()) as MessagePage;
    expect(messages.map(({ type }) => type)).toContain("HandoffMessage");
    const sent = models.requests.slice(before);
    expect(sent.map((one) => one.path)).toEqual([path, path]);
    expect(sent.map(({ status }) => status)).toEqual([200, 200]);
  },
);

test("the key of the Worker reaches Anthropic's server, and no other one", async () => {
  const [, client] = clients()[0]!;
  await worker.fetch("/v1/teams", jsonInit({ id: "keyed", component: teamOf(client, false) }));
  await worker.fetch("/v1/teams/keyed/runs?wait=60", jsonInit({ task: "Please do it." }));
  expect(models.requests.at(-1)?.headers).toMatchObject({
    "x-api-key": "key-of-the-worker",
    "anthropic-version": "2023-06-01",
  });
});

test("a component with a model of Workers AI is refused without the binding", async () => {
  await using bare = await TestWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
  const component = teamOf({ provider: WORKERS_AI, config: { model: "@cf/x/y" } }, false);
  const refused = await bare.fetch("/v1/teams", jsonInit({ id: "none", component }));
  expect(refused.status).toBe(422);
  expect(await refused.json()).toMatchObject({
    code: "invalid_component",
    errors: [
      {
        path: expect.stringContaining("model_client") as string,
        message: expect.stringMatching(/binding AI.*\[ai\].*wrangler\.toml/) as string,
      },
    ],
  });
});
