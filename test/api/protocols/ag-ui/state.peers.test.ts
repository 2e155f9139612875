import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  DiGraph,
  dumpComponent,
  GraphFlow,
  MagenticOneGroupChat,
  MaxMessageTermination,
  ReplayChatCompletionClient,
} from "troupe";
import { saying } from "../../../../console/test/support/components.ts";
import { ledger, ledgerObject } from "../../../core/support/ledger.ts";
import { TestWorker } from "../../../support/worker.ts";
import { newTeam } from "../support/teams.ts";
import { EventSchema } from "../../../peers/ag-ui.ts";
import { agentOf, run, say, type Seen } from "./support/agents.ts";

let worker: TestWorker;
let count = 0;
let id: string;

beforeAll(async () => {
  worker = await TestWorker.start();
});

afterAll(() => worker[Symbol.asyncDispose]());

beforeEach(() => {
  id = `state${++count}`;
});

/** A graph in which a writer writes again until the reviewer is content. */
function reviewed({ delayMs = 0 } = {}): ReturnType<typeof dumpComponent> {
  const agents = [
    saying(["A draft."], 0, "writer"),
    saying(["AGAIN, please, with more of the sea.", "FINE, it is good."], delayMs, "reviewer"),
    saying(["It is printed."], 0, "printer"),
  ];
  const graph = new DiGraph({
    nodes: {
      writer: { name: "writer", edges: [{ target: "reviewer" }] },
      reviewer: {
        name: "reviewer",
        edges: [
          { target: "writer", condition: "AGAIN", activationGroup: "back" },
          { target: "printer", condition: "FINE" },
        ],
      },
      printer: { name: "printer", edges: [] },
    },
    defaultStartNode: "writer",
  });
  const terminationCondition = new MaxMessageTermination(20);
  return dumpComponent(new GraphFlow(agents, graph, { terminationCondition }));
}

/** The events about the state, all of them valid. */
function statesOf({ events }: Seen): { type: string; [field: string]: unknown }[] {
  const states = events.filter(({ type }) => type.startsWith("STATE_"));
  for (const event of states) expect(EventSchema.parse(event)).toEqual(event);
  return states;
}

/** The values that a member of Troupe's state took by changes. */
function changesOf(seen: Seen, member: string): unknown[] {
  return statesOf(seen)
    .flatMap(({ delta }) => (delta ?? []) as { path: string; value: unknown }[])
    .filter(({ path }) => path === `/troupe/${member}`)
    .map(({ value }) => value);
}

test("the state has the ledgers of a MagenticOne, as it writes them", async () => {
  const modelClient = new ReplayChatCompletionClient([
    "The sea is wide.",
    "Ask Ann.",
    ledger({ speaker: "ann", say: "How deep is it?" }),
    ledger({ satisfied: true, reason: "Ann knows." }),
    "Eleven kilometres.",
  ]);
  const crew = ["ann", "bob"].map((name) => saying(["Very."], 0, name));
  const component = dumpComponent(new MagenticOneGroupChat(crew, { modelClient }));
  await newTeam(worker, { id, component });
  const agent = await agentOf(worker, id);
  const seen = await say(agent, "How deep is the sea?");
  expect(statesOf(seen)[0]).toEqual({
    type: "STATE_SNAPSHOT",
    snapshot: {
      troupe: {
        speaker: null,
        task_ledger: { task: "", facts: "", plan: "" },
        progress_ledger: { rounds: 0, stalls: 0, next: "task", entry: null },
      },
    },
  });
  expect(changesOf(seen, "task_ledger/plan")).toEqual(["Ask Ann."]);
  expect(changesOf(seen, "progress_ledger/next")).toEqual(["plan", "work", "task"]);
  const asking = ledgerObject({ speaker: "ann", say: "How deep is it?" });
  expect(changesOf(seen, "progress_ledger/entry")[0]).toEqual(asking);
  expect(agent.state).toEqual({
    troupe: {
      speaker: null,
      task_ledger: { task: "How deep is the sea?", facts: "The sea is wide.", plan: "Ask Ann." },
      progress_ledger: {
        rounds: 2,
        stalls: 0,
        next: "task",
        entry: ledgerObject({ satisfied: true, reason: "Ann knows." }),
      },
    },
  });
});

test("the state has the place in a graph, around its loop and at its end", async () => {
  await newTeam(worker, { id, component: reviewed() });
  const agent = await agentOf(worker, id);
  const seen = await say(agent, "Write.");
  expect(statesOf(seen)[0]).toMatchObject({
    snapshot: { troupe: { graph: { ready: ["writer"], turns: {} } } },
  });
  expect(changesOf(seen, "graph/ready")).toEqual([
    ["reviewer"],
    ["writer"],
    ["reviewer"],
    ["printer"],
    [],
  ]);
  const end = {
    speaker: null,
    graph: { ready: [], turns: { writer: 2, reviewer: 2, printer: 1 } },
  };
  expect(agent.state).toEqual({ troupe: end });
  // A page that is loaded again has no state.
  const { threadId } = agent;
  const reloaded = await agentOf(worker, id, { threadId });
  expect(statesOf(await run(reloaded))).toEqual([
    { type: "STATE_SNAPSHOT", snapshot: { troupe: end } },
  ]);
});

test("a client that was cut off has the present state and the later changes", async () => {
  await newTeam(worker, { id, component: reviewed({ delayMs: 400 }) });
  const agent = await agentOf(worker, id);
  agent.messages.push({ id: crypto.randomUUID(), role: "user", content: "Write." });
  const cutOff = {
    onStepStartedEvent: ({ event }: { event: { stepName: string } }) => {
      if (event.stepName === "reviewer") agent.abortRun();
    },
  };
  await run(agent, {}, cutOff).catch(() => undefined);
  const again = await run(agent);
  expect(again.types.slice(0, 3)).toEqual(["RUN_STARTED", "MESSAGES_SNAPSHOT", "STATE_SNAPSHOT"]);
  expect(statesOf(again)[0]).toMatchObject({
    snapshot: { troupe: { graph: { ready: ["reviewer"], turns: { writer: 1 } } } },
  });
  expect(changesOf(again, "graph/ready")).toEqual([["writer"], ["reviewer"], ["printer"], []]);
  expect(agent.state).toMatchObject({
    troupe: { speaker: null, graph: { turns: { writer: 2, reviewer: 2, printer: 1 } } },
  });
});

test("the application's own state stays as it is", async () => {
  await newTeam(worker, { id, component: reviewed() });
  const agent = await agentOf(worker, id);
  agent.setState({ theme: "dark" });
  const seen = await say(agent, "Write.");
  expect(statesOf(seen).map(({ type }) => type)).not.toContain("STATE_SNAPSHOT");
  expect(agent.state).toMatchObject({
    theme: "dark",
    troupe: { graph: { turns: { printer: 1 } } },
  });
});

test("a state that is not an object is not touched", async () => {
  await newTeam(worker, { id, component: reviewed() });
  const agent = await agentOf(worker, id);
  agent.setState(["mine"] as never);
  expect(statesOf(await say(agent, "Write."))).toEqual([]);
  expect(agent.state).toEqual(["mine"]);
});
