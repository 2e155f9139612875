import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ComponentModel } from "troupe";
import { TroupeClient } from "#client/index.ts";
import { EchoServer } from "../support/echo-server.ts";
import type { RuleInput } from "../support/fake-openai/rule.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../support/fake-openai/server.ts";
import { lookUp, reflecting, swarm, TEAM_RULES } from "../support/maker-teams.ts";
import { MAKERS, type TestedMaker } from "../support/makers.ts";
import { TestWorker } from "../support/worker.ts";

// Teams of the models of all makers through the Worker as it is deployed, on servers that refuse as the makers' do.

let worker: TestWorker;
let models: FakeOpenAI;
let tools: EchoServer;
let client: TroupeClient;

beforeAll(async () => {
  models = await startFakeOpenAI({ rules: TEAM_RULES });
  tools = await EchoServer.start((response, { path }) => void response.end(path.slice(1)));
  worker = await TestWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
  client = new TroupeClient({ baseURL: await worker.origin });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await tools[Symbol.asyncDispose]();
  await models.close();
});

beforeEach(() => {
  models.log.clear();
  models.rules.set(TEAM_RULES);
});

const part = (maker: TestedMaker, stream: boolean) => ({
  model_client: maker.client(models.origin),
  tool: lookUp(tools.port),
  stream,
});

/** The last message of a run that must succeed. */
async function answer(team: Awaited<ReturnType<typeof client.teams.create>>, task: string) {
  const { id } = await team.start(task);
  await expect.poll(async () => (await team.getRun(id)).status).not.toBe("running");
  const { status, error, result } = await team.getRun(id);
  expect([status, error]).toEqual(["completed", null]);
  return result?.messages ?? [];
}

const refused = (): unknown[] =>
  models.requests
    .filter(({ status }) => status !== 200)
    .map(({ status, path, body }) => ({ status, path, body }));

describe.each(MAKERS)("$name", (maker) => {
  test.each([true, false])("calls tools, hands over and reflects, streamed: %s", async (stream) => {
    const component = swarm(part(maker, stream));
    const team = await client.teams.create({ component });
    const messages = await answer(team, "Look up.");
    expect(messages.at(-1)).toMatchObject({ source: "bob", content: "It is done." });
    expect(messages.map(({ type }) => type)).toContain("HandoffMessage");

    const single = await client.teams.create({ component: reflecting(part(maker, stream)) });
    expect((await answer(single, "Look up.")).at(-1)).toMatchObject({ content: "It is done." });
    expect(refused()).toEqual([]);

    // The state continues elsewhere, also without what makers want back, as AutoGen saves it.
    const state = await single.saveState();
    for (const saved of [state, withoutTroupe(state)]) {
      const other = await client.teams.create({ component: reflecting(part(maker, stream)) });
      await other.loadState(saved as never);
      expect((await answer(other, "And then?")).at(-1)).toMatchObject({ content: "Nothing." });
    }
    expect(refused()).toEqual([]);
    const kept = JSON.stringify(state).includes('"troupe":{"maker"');
    expect(kept).toBe(maker.wants !== "nothing");
  });
});

test.each([
  ["Kimi K2.6", "Claude Sonnet 4.5 with a budget"],
  ["Kimi K2 Thinking", "Magistral"],
  ["Claude Opus 5.5, adaptive", "Magistral"],
  ["Magistral", "gpt-5.6 by the Responses API"],
  ["gpt-5.6 by the Responses API", "DeepSeek V4"],
  ["Gemini 3 Pro", "gpt-4o"],
])("%s hands over to %s in the middle of its calls", async (...names) => {
  const [first, second] = names.map((name) => MAKERS.find((maker) => maker.name === name)!);
  const component = swarm(part(first!, true), part(second!, true));
  const team = await client.teams.create({ component });
  const messages = await answer(team, "Look up.");
  expect(messages.at(-1)).toMatchObject({ source: "bob", content: "It is done." });
  expect(refused()).toEqual([]);
});

test.each([
  ["gpt-5.6 by the Responses API", "Claude Sonnet 4.5 with a budget"],
  ["Claude Opus 5.5, adaptive", "gpt-5.6 by the Responses API"],
  ["Kimi K2.6", "Magistral"],
  ["Gemini 3 Pro", "DeepSeek V4"],
  ["DeepSeek V4", "Gemini 3.8 Flash"],
])("%s fails between a call and its result, and %s continues", async (...names) => {
  const [first, second] = names.map((name) => MAKERS.find((maker) => maker.name === name)!);
  const isDown = ({ config }: ComponentModel): RuleInput => ({
    name: "down",
    match: { model: String((config as { model: unknown }).model), role: "tool" },
    fault: { kind: "status", status: 503 },
  });
  const clients = [first!, second!].map((maker) => maker.client(models.origin));
  models.rules.set([isDown(clients[0]!), ...TEAM_RULES]);
  const fallback = {
    provider: "troupe.models.FallbackChatCompletionClient",
    config: { clients },
  };
  const component = swarm({
    model_client: fallback,
    tool: lookUp(tools.port),
    stream: names[0] !== "Kimi K2.6",
  });
  const team = await client.teams.create({ component });
  const messages = await answer(team, "Look up.");
  expect(messages.at(-1)).toMatchObject({ source: "bob", content: "It is done." });
  expect(refused().map((request) => (request as { status: number }).status)).toEqual([503]);
});

test.each(MAKERS.filter(({ name }) => /Opus 5|budget|Magistral/.test(name)))(
  "$name speaks again without a new message",
  async (maker) => {
    models.rules.set([{ name: "says", reply: { content: "A line." } }]);
    const { config } = reflecting(part(maker, true));
    const component = {
      provider: "autogen_agentchat.teams.RoundRobinGroupChat",
      config: { ...config, max_turns: 2 },
    };
    const team = await client.teams.create({ component });
    const messages = await answer(team, "Write.");
    const texts = messages.filter(({ type }) => type === "TextMessage");
    expect(texts.map(({ source }) => source)).toEqual(["user", "eve", "eve"]);
    expect(refused()).toEqual([]);
  },
);

test("the trace shows requests to a model without thinking", async () => {
  const claude = MAKERS.find(({ wants }) => wants === "signed thinking");
  const gemini = MAKERS.find(({ wants }) => wants === "signatures");
  // The one who takes over continues with the calls of another maker's model.
  const component = swarm(part(gemini!, false), part(claude!, false));
  const team = await client.teams.create({ component });
  const { id } = await team.start("Look up.");
  await expect.poll(async () => (await team.getRun(id)).status).toBe("completed");
  const { spans } = await team.trace(id);
  const asked = spans.filter(({ kind }) => kind === "chat").map(({ agent, note }) => [agent, note]);
  expect(asked[0]).toEqual(["ann", undefined]);
  expect(asked.find(([agent]) => agent === "bob")).toEqual([
    "bob",
    expect.stringMatching(/^asked without thinking/) as string,
  ]);
  expect(refused()).toEqual([]);
});

function withoutTroupe(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, inner: unknown) => (key === "troupe" ? undefined : inner)),
  );
}
