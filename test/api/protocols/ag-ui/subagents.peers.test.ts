import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { speaker } from "../../../../console/test/support/components.ts";
import { TestWorker } from "../../../support/worker.ts";
import { OldestHttpAgent } from "../../../peers/ag-ui.ts";
import { HUMAN, inTurn, newTeam, writer } from "../support/teams.ts";
import { agentOf, endOf, run, say, type Seen } from "./support/agents.ts";

let worker: TestWorker;
let count = 0;
let id: string;

beforeAll(async () => {
  worker = await TestWorker.start();
});

afterAll(() => worker[Symbol.asyncDispose]());

beforeEach(() => {
  id = `team${++count}`;
});

/** An agent of this name that says a text. @param pause milliseconds between its words */
function saying(name: string, text: string, pause = 0): object {
  const { config, ...component } = speaker([text], pause) as { config: object };
  return { ...component, config: { ...config, name } };
}

function named(name: string, team: object): object {
  const { config, ...component } = team as { config: object };
  return { ...component, config: { ...config, name } };
}

/** The events of subagents: what happened to whom, within whom. */
function subagents({ events }: Seen): string[] {
  const names = new Map<string, string>();
  return events.flatMap((event) => {
    if (!event.type.startsWith("SUBAGENT_")) return [];
    const { subagentRunId, name, parentSubagentRunId, outcome } = event as unknown as {
      subagentRunId: string;
      name?: string;
      parentSubagentRunId?: string;
      outcome?: { type: string };
    };
    if (name !== undefined) names.set(subagentRunId, name);
    const parent = parentSubagentRunId === undefined ? [] : [names.get(parentSubagentRunId)];
    const what = outcome?.type ?? event.type.slice("SUBAGENT_".length).toLowerCase();
    return [[what, names.get(subagentRunId), ...parent].join(" ")];
  });
}

test("each turn of an agent is a subagent, within the inner teams around it", async () => {
  const inner = named("desk", inTurn(saying("writer", "One."), saying("critic", "Two.")));
  await newTeam(worker, { id, component: inTurn(saying("lead", "Zero."), inner) });
  const seen = await say(await agentOf(worker, id), "Go.");
  expect(endOf(seen)).toMatchObject({ outcome: { type: "success" } });
  expect(subagents(seen)).toEqual([
    "started lead",
    "success lead",
    "started desk",
    "started writer desk",
    "success writer",
    "started critic desk",
    "success critic",
    "success desk",
  ]);
});

test("an agent that asks is suspended, and is another subagent once it continues", async () => {
  await newTeam(worker, { id, component: inTurn(HUMAN, saying("writer", "Lovely.")) });
  const agent = await agentOf(worker, id);
  const asked = await say(agent, "Ask.");
  expect(subagents(asked)).toEqual(["started human", "suspended human"]);
  const [interrupt] = agent.pendingInterrupts;
  expect(asked.events).toContainEqual(
    expect.objectContaining({ outcome: { type: "suspended", interruptIds: [interrupt!.id] } }),
  );
  const payload = { content: "Lisbon" };
  const resumed = await run(agent, {
    resume: [{ interruptId: interrupt!.id, status: "resolved", payload }],
  });
  expect(subagents(resumed).slice(-2)).toEqual(["started writer", "success writer"]);
  const ids = [asked, resumed].flatMap(({ events }) =>
    events.flatMap((one) => (one.type === "SUBAGENT_STARTED" ? [one["subagentRunId"]] : [])),
  );
  expect(new Set(ids).size).toBe(ids.length);
});

test("an agent that fails is a subagent that failed", async () => {
  const broken = writer({
    model_client: {
      provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
      config: { chat_completions: [] },
    },
  });
  await newTeam(worker, { id, component: inTurn(saying("lead", "Zero."), broken) });
  const agent = await agentOf(worker, id);
  const events: Seen["events"] = [];
  agent.messages.push({ id: "1", role: "user", content: "Go." });
  await agent
    .runAgent({}, { onEvent: ({ event }) => void events.push(event) })
    .catch(() => undefined);
  expect(subagents({ events, types: [] })).toEqual([
    "started lead",
    "success lead",
    "started writer",
    "error writer",
  ]);
  const [error, end] = events.slice(-2) as unknown as { message: string; code: string }[];
  expect([error!.message, error!.code]).toEqual([end!.message, end!.code]);
});

test("the steps under way are an activity, which is empty in the end", async () => {
  await newTeam(worker, { id, component: saying("writer", "One two three four.", 200) });
  const agent = await agentOf(worker, id);
  const seen = await say(agent, "Go.");
  const shown = seen.events.find(({ type }) => type === "ACTIVITY_SNAPSHOT");
  expect(shown).toMatchObject({
    activityType: "troupe.steps",
    content: { steps: [{ kind: "chat", agent: "writer", attempt: 1 }] },
  });
  expect(agent.messages.find(({ role }) => role === "activity")).toMatchObject({
    activityType: "troupe.steps",
    content: { steps: [] },
  });
  // The client sends it back with the next message.
  const next = await say(agent, "More.");
  expect(endOf(next)).toMatchObject({ outcome: { type: "success" } });
});

test("clients that do not know them, or decline them, get neither", async () => {
  await newTeam(worker, { id, component: saying("writer", "One two three.", 200) });
  const declined = await say(await agentOf(worker, id), "Go.", {
    forwardedProps: { troupe: { subagents: false, activity: false } },
  });
  const url = new URL(`/ag-ui/teams/${id}`, await worker.origin);
  const oldest = new OldestHttpAgent({ url: url.href });
  const types: string[] = [];
  oldest.messages.push({ id: "1", role: "user", content: "Go." });
  await oldest.runAgent({}, { onEvent: ({ event }) => void types.push(event.type) });
  for (const seen of [declined.types, types]) {
    expect(seen).toContain("TEXT_MESSAGE_END");
    expect(seen.filter((type) => /^(SUBAGENT|ACTIVITY)_/.test(type))).toEqual([]);
  }
});
