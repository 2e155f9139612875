// Agents that share the state of the page, with the official clients.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { EventSchema, OldestHttpAgent } from "../../../../peers/ag-ui.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../../../support/fake-openai/server.ts";
import { jsonInit } from "../../../../support/http-app.ts";
import { KillableWorker } from "../../../../support/killable-worker.ts";
import { HUMAN, inTurn, newTeam, writer } from "../../support/teams.ts";
import { agentOf, endOf, run, say, type Seen } from "../support/agents.ts";

let fake: FakeOpenAI;
let worker: KillableWorker;
let count = 0;
let id: string;

const SHARED = { provider: "troupe.memory.SharedStateMemory", config: {} };

/** An agent that shares the state, and calls its model until that answers with a text. */
function sharing(name: string, system_message: string): ReturnType<typeof writer> {
  return writer({ name, system_message, memory: [SHARED], max_tool_iterations: 5 });
}

beforeAll(async () => {
  fake = await startFakeOpenAI();
  worker = await KillableWorker.start({ OPENAI_API_KEY: "test-key", OPENAI_BASE_URL: fake.url });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await fake[Symbol.asyncDispose]();
});

beforeEach(() => {
  fake.log.clear();
  fake.rules.set(RULES);
  id = `shared${++count}`;
});

type Rule = Parameters<FakeOpenAI["rules"]["set"]>[0][number];

function update(name: string, match: Rule["match"], changes: object): Rule {
  const call = { name: "update_state", arguments: JSON.stringify({ changes }) };
  return { name, match, reply: { tool_calls: [call] } };
}

const RULES: Rule[] = [
  { name: "checked", match: { system: "You check.", role: "tool" }, reply: { content: "Fine." } },
  update("check", { system: "You check." }, { recipe: { checked: true, draft: null } }),
  { name: "cooked", match: { system: "You cook.", role: "tool" }, reply: { content: "Done." } },
  update("cook", { system: "You cook." }, { recipe: { steps: ["Boil."], "a/b~c": 1 } }),
];

const kitchen = inTurn(sharing("cook", "You cook."), sharing("checker", "You check."));

/** The states in the requests to the models, one after the other. */
function seenByModels(): unknown[] {
  return fake.log.requests.map(({ body }) => {
    const [, text] = /<state-\w+>\\n(.*?)\\n<\/state-/.exec(JSON.stringify(body)) ?? [];
    return JSON.parse(JSON.parse(`"${text}"`) as string);
  });
}

function statesOf({ events }: Seen): Seen["events"] {
  const states = events.filter(({ type }) => type.startsWith("STATE_"));
  for (const event of states) expect(EventSchema.parse(event)).toEqual(event);
  return states;
}

test("agents see the client's state, and the client sees their changes, turn by turn", async () => {
  await newTeam(worker, { id, component: kitchen });
  const agent = await agentOf(worker, id);
  const given = { theme: "dark", recipe: { title: "Soup", draft: true } };
  agent.setState(given);
  const seen = await say(agent, "Cook.");
  const cooked = { title: "Soup", draft: true, steps: ["Boil."], "a/b~c": 1 };
  const { draft: _, ...rest } = cooked;
  const checked = { ...rest, checked: true };
  expect(seenByModels()).toEqual([
    given,
    { ...given, recipe: cooked },
    { ...given, recipe: cooked },
    { ...given, recipe: checked },
  ]);
  expect(agent.state).toEqual({ theme: "dark", recipe: checked, troupe: { speaker: null } });
  const states = statesOf(seen);
  // The client's own state is never replaced by an older one.
  expect(states[0]).toEqual({
    type: "STATE_DELTA",
    delta: [{ op: "add", path: "/troupe", value: { speaker: null } }],
  });
  expect(states[1]).toEqual({
    type: "STATE_SNAPSHOT",
    snapshot: { ...given, troupe: { speaker: null } },
  });
  const deltas = states.flatMap(({ delta }) => (delta ?? []) as { path: string }[]);
  expect(deltas.filter(({ path }) => path.startsWith("/recipe"))).toEqual([
    { op: "add", path: "/recipe/steps", value: ["Boil."] },
    { op: "add", path: "/recipe/a~1b~0c", value: 1 },
    { op: "remove", path: "/recipe/draft" },
    { op: "add", path: "/recipe/checked", value: true },
  ]);
});

test("changes of the user in between reach the agents, and a page that is loaded again has all of them", async () => {
  await newTeam(worker, { id, component: kitchen });
  const agent = await agentOf(worker, id);
  agent.setState({ recipe: { title: "Soup" }, notes: "mild" });
  await say(agent, "Cook.");
  agent.setState({ ...agent.state, notes: null, recipe: { title: "Stew" } });
  fake.log.clear();
  await say(agent, "Again.");
  expect(seenByModels()[0]).toEqual({ notes: null, recipe: { title: "Stew" } });
  const reloaded = await agentOf(worker, id, { threadId: agent.threadId });
  const [snapshot] = statesOf(await run(reloaded));
  expect(snapshot).toEqual({ type: "STATE_SNAPSHOT", snapshot: agent.state });
  // Its next message changes nothing of what it has not set.
  fake.log.clear();
  await say(reloaded, "Once more.");
  expect(seenByModels()[0]).toMatchObject({ notes: null, recipe: { title: "Stew" } });
  expect(reloaded.state).toEqual(agent.state);
});

test("a fork has the state of its turn, and continues with it alone", async () => {
  await newTeam(worker, { id, component: kitchen });
  const agent = await agentOf(worker, id);
  agent.setState({ recipe: { title: "Soup" } });
  await say(agent, "Cook.");
  const forked = await worker.fetch(
    `/v1/teams/${id}/fork`,
    jsonInit({ id: `${id}-fork`, turn: 2 }),
  );
  expect(forked.status).toBe(201);
  const other = await agentOf(worker, `${id}-fork`);
  await run(other);
  const recipe = { title: "Soup", steps: ["Boil."], "a/b~c": 1 };
  expect(other.state).toEqual({ recipe, troupe: { speaker: null } });
  other.setState({ recipe: { title: "Stew" } });
  await say(other, "Another.");
  await run(agent);
  expect(agent.state).toMatchObject({ recipe: { title: "Soup", checked: true } });
});

test("kill -9 between a change and the next step loses nothing and repeats nothing", async () => {
  await newTeam(worker, { id, component: kitchen });
  const agent = await agentOf(worker, id);
  agent.setState({ recipe: { title: "Soup" } });
  fake.rules.add([{ name: "stall", match: { role: "tool" }, hold: true }]);
  const said = say(agent, "Cook.").catch(() => undefined);
  await fake.log.until((requests) => requests.some(({ rule }) => rule === "stall"));
  // The client makes a rejection of its own of a connection that breaks.
  agent.abortRun();
  await said;
  await worker.kill();
  fake.rules.set(RULES);
  await worker.restart();
  const seen = await run(agent);
  expect(endOf(seen)).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "success" } });
  const recipe = { title: "Soup", steps: ["Boil."], "a/b~c": 1, checked: true };
  expect(agent.state).toEqual({ recipe, troupe: { speaker: null } });
  // The call that changed the state was not made again, and the next one saw the change.
  expect(fake.log.requests.map(({ rule }) => rule)).toEqual([
    "cook",
    "stall",
    "cooked",
    "check",
    "checked",
  ]);
  const [, interrupted, again] = seenByModels();
  expect(again).toEqual(interrupted);
});

test.each([
  ["state.__proto__", '{ "__proto__": { "admin": true } }'],
  ["state.a.constructor", '{ "a": { "constructor": { "prototype": 1 } } }'],
  [`state.deep${"[0]".repeat(31)}`, `{ "deep": ${"[".repeat(90)}${"]".repeat(90)} }`],
  ["state", `{ "text": "${"x".repeat(70_000)}" }`],
])("a state that agents cannot share is refused, with the place: %s", async (path, state) => {
  await newTeam(worker, { id, component: kitchen });
  const post = (team: string): Promise<Response> =>
    worker.fetch(`/ag-ui/teams/${team}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: `{ "threadId": "t", "runId": "r", "messages": [{ "id": "m", "role": "user", "content": "Cook." }],
        "state": ${state} }`,
    });
  const refused = await post(id);
  expect(refused.status).toBe(422);
  expect(await refused.json()).toMatchObject({
    detail: "The agents cannot share this state.",
    errors: [{ path }],
  });
  // A team whose agents want no state does not read it.
  await newTeam(worker, { id: `${id}-plain`, component: writer() });
  const plain = await post(`${id}-plain`);
  expect(plain.status).toBe(200);
  await plain.text();
});

test("a request that answers a question leaves the state as the agents have it", async () => {
  const component = inTurn(sharing("cook", "You cook."), HUMAN, sharing("checker", "You check."));
  await newTeam(worker, { id, component });
  const agent = await agentOf(worker, id);
  agent.setState({ recipe: {} });
  const asked = await say(agent, "Cook.");
  const { interrupts } = endOf(asked)["outcome"] as { interrupts: { id: string }[] };
  agent.setState({ recipe: "mine" });
  const resume = interrupts.map(({ id: interruptId }) => ({
    interruptId,
    status: "resolved" as const,
    payload: "Good.",
  }));
  await run(agent, { resume });
  expect(agent.state).toMatchObject({ recipe: { steps: ["Boil."], checked: true } });
});

test("the oldest client follows the state like the newest one", async () => {
  await newTeam(worker, { id, component: kitchen });
  const agent = new OldestHttpAgent({ url: `${worker.origin}/ag-ui/teams/${id}` });
  agent.setState({ recipe: { title: "Soup" } });
  agent.messages.push({ id: "one", role: "user", content: "Cook." });
  await agent.runAgent();
  const recipe = { title: "Soup", steps: ["Boil."], "a/b~c": 1, checked: true };
  expect(agent.state).toEqual({ recipe, troupe: { speaker: null } });
});
