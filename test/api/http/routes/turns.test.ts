import { afterAll, beforeAll, expect, test } from "vitest";
import {
  dumpComponent,
  MagenticOneGroupChat,
  ReplayChatCompletionClient,
  RoundRobinGroupChat,
  SocietyOfMindAgent,
} from "troupe";
import type { RunInfo } from "#contract/run.ts";
import type { TurnInfo, TurnPage } from "#contract/turn.ts";
import { saying } from "../../../../console/test/support/components.ts";
import { ledger } from "../../../core/support/ledger.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../../support/fake-openai/server.ts";
import { jsonInit } from "../../../support/http-app.ts";
import { TestWorker } from "../../../support/worker.ts";

let worker: TestWorker;
let openai: FakeOpenAI;

beforeAll(async () => {
  openai = await startFakeOpenAI({});
  worker = await TestWorker.start({
    OPENAI_API_KEY: "test-key",
    OPENAI_BASE_URL: `${openai.origin}/v1`,
    MODEL_PRICES: JSON.stringify({ "gpt-4o": { input: 2.5, output: 10 } }),
  });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await openai[Symbol.asyncDispose]();
});

async function finishedRun(team: string, component: unknown): Promise<RunInfo> {
  const created = await worker.fetch("/v1/teams", jsonInit({ id: team, component }));
  expect(created.status, await created.text()).toBe(201);
  const run = await worker.fetch(`/v1/teams/${team}/runs?wait=60`, jsonInit({ task: "Go." }));
  return (await run.json()) as RunInfo;
}

async function turns(team: string, query = ""): Promise<TurnInfo[]> {
  const response = await worker.fetch(`/v1/teams/${team}/turns${query}`);
  expect(response.status, await response.clone().text()).toBe(200);
  return ((await response.json()) as TurnPage).turns;
}

test("a turn names its agents, their models, tokens and cost", async () => {
  const usage = { prompt_tokens: 1000, completion_tokens: 200 };
  openai.rules.set([{ name: "say", reply: { content: "A line.", usage } }]);
  const model_client = { provider: "OpenAIChatCompletionClient", config: { model: "gpt-4o" } };
  const writer = { provider: "AssistantAgent", config: { name: "writer", model_client } };
  const config = { participants: [writer], max_turns: 1 };
  const run = await finishedRun("written", { provider: "RoundRobinGroupChat", config });
  const [, said] = await turns("written");
  const priced = { ...usage, cost: 0.0045 };
  expect(said).toMatchObject({
    turn: 2,
    run_id: run.id,
    usage,
    cost: 0.0045,
    agents: [{ agent: "writer", thought_ms: null, models: { "gpt-4o": priced }, cost: 0.0045 }],
    ledgers: null,
    nested_ledgers: [],
  });
  expect(said?.agents[0]?.duration_ms).toBeGreaterThanOrEqual(0);
  expect(said?.message_ids).toEqual([run.result?.messages[1]?.id]);
});

test("the turns of a Magentic-One team have its ledgers, the task ledger where it changed", async () => {
  const modelClient = new ReplayChatCompletionClient([
    "The sea is wide.",
    "Ask Ann.",
    ledger({ speaker: "ann", say: "How deep is it?" }),
    ledger({ satisfied: true, reason: "Ann knows." }),
    "Eleven kilometres.",
  ]);
  const crew = ["ann", "bob"].map((name) => saying(["Very."], 0, name));
  await finishedRun("crew", dumpComponent(new MagenticOneGroupChat(crew, { modelClient })));
  const all = await turns("crew");
  const task = { facts: "The sea is wide.", plan: "Ask Ann." };
  expect(all.map(({ ledgers }) => ledgers?.task_ledger)).toEqual([
    { facts: "", plan: "" },
    task,
    null,
    null,
  ]);
  expect(all.map(({ ledgers }) => ledgers?.progress_ledger.rounds)).toEqual([0, 0, 1, 2]);
  const last = all.at(-1)?.ledgers?.progress_ledger;
  expect(last?.entry?.is_request_satisfied).toEqual({ answer: true, reason: "Ann knows." });
  const [first] = await turns("crew", "?after=3");
  expect(first?.ledgers?.task_ledger).toEqual(task);
});

/** What an orchestrator asks its model for: one round, and the answer. */
const asked = (facts: string): ReplayChatCompletionClient =>
  new ReplayChatCompletionClient([
    facts,
    "Ask Ann.",
    ledger({ speaker: "ann", say: "How deep is it?" }),
    ledger({ satisfied: true, reason: "Ann knows." }),
    "Eleven kilometres.",
  ]);

test("a turn has the ledgers of Magentic-One teams inside participants, round by round", async () => {
  const crew = (name: string): MagenticOneGroupChat =>
    new MagenticOneGroupChat([saying(["Very."], 0, "ann")], { name, modelClient: asked(name) });
  const mind = new SocietyOfMindAgent({
    name: "mind",
    team: new RoundRobinGroupChat([crew("inner"), saying(["So it is."], 0, "bob")], {
      maxTurns: 2,
    }),
    modelClient: new ReplayChatCompletionClient(["It is deep."]),
  });
  const outer = new RoundRobinGroupChat([crew("divers"), mind], { maxTurns: 2 });
  const run = await finishedRun("nested", dumpComponent(outer));
  expect(run.status).toBe("completed");
  const all = await turns("nested");
  expect(all.map(({ ledgers }) => ledgers)).toEqual([null, null, null]);
  const task = (facts: string) => ({ facts, plan: "Ask Ann." });
  const shown = ({ nested_ledgers }: TurnInfo): unknown[] =>
    nested_ledgers.map(({ team, task_ledger, progress_ledger }) => [
      team.join(" "),
      task_ledger,
      progress_ledger.rounds,
    ]);
  expect(all.map(shown)).toEqual([
    [],
    [
      ["divers", task("divers"), 0],
      ["divers", null, 1],
      ["divers", null, 2],
    ],
    [
      ["mind inner", task("inner"), 0],
      ["mind inner", null, 1],
      ["mind inner", null, 2],
    ],
  ]);
  const { entry } = all[2]?.nested_ledgers.at(-1)?.progress_ledger ?? {};
  expect(entry?.is_request_satisfied).toEqual({ answer: true, reason: "Ann knows." });
  expect((await turns("nested", "?after=2")).map(shown)).toEqual([shown(all[2] as TurnInfo)]);
  const fork = await worker.fetch("/v1/teams/nested/fork", jsonInit({ id: "forked", turn: 3 }));
  expect(fork.status).toBe(201);
  // A fork has one turn of its own, in which all of the conversation was said.
  expect((await turns("forked")).map(shown)).toEqual([shown(all[2] as TurnInfo)]);
});

test("a failed run reports its number of attempts", async () => {
  const headers = { "retry-after-ms": "5" };
  openai.rules.set([{ name: "busy", fault: { kind: "status", status: 503, headers } }]);
  const config = { model: "gpt-4o", retry: { attempts: 3 } };
  const model_client = { provider: "OpenAIChatCompletionClient", config };
  const { error } = await finishedRun("away", {
    provider: "AssistantAgent",
    config: { name: "writer", model_client },
  });
  expect(error).toMatchObject({ agent: "writer", attempts: 3 });
});

test.each([
  ["?after=1&before=2", "before", "cannot be combined with after"],
  ["?after=x", "after", "must be a whole number"],
  ["?limit=0", "limit", "must be a whole number"],
])("a page with %s is refused", async (query, path, message) => {
  const response = await worker.fetch(`/v1/teams/crew/turns${query}`);
  expect(response.status).toBe(422);
  const errors = [{ path, message: expect.stringContaining(message) as string }];
  expect(await response.json()).toMatchObject({ code: "invalid_query", errors });
});
