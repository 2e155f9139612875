import { afterAll, beforeAll, expect, test } from "vitest";
import type { ModelRequest, RunInfo, RunTrace, TraceSpan } from "troupe/client";
import { ledger } from "../core/support/ledger.ts";
import type { RuleInput } from "../support/fake-openai/rule.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../support/fake-openai/server.ts";
import { jsonInit } from "../support/http-app.ts";
import { TestWorker } from "../support/worker.ts";

// The requests of finished steps are built again from what is stored. They are compared with what the model's server received.

let worker: TestWorker;
let openai: FakeOpenAI;

beforeAll(async () => {
  openai = await startFakeOpenAI({});
  worker = await TestWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await openai[Symbol.asyncDispose]();
});

const KEY = "sk-a-secret-of-the-component";

const model = (config: object = {}) => ({
  provider: "OpenAIChatCompletionClient",
  config: { model: "gpt-4o", base_url: `${openai.origin}/v1`, api_key: KEY, ...config },
});

const assistant = (name: string, config: object = {}) => ({
  provider: "AssistantAgent",
  config: { name, system_message: `You are ${name}.`, model_client: model(), ...config },
});

const roundRobin = (participants: unknown[], max_turns = participants.length) => ({
  provider: "RoundRobinGroupChat",
  config: { participants, max_turns },
});

const calculator = { provider: "FunctionTool", config: { name: "calculator" } };

/** A model that calls the calculator, and answers in words once it has the result. */
const CALCULATES: RuleInput[] = [
  {
    name: "calculate",
    match: { role: "user" },
    reply: { tool_calls: [{ name: "calculator", arguments: { expression: "6 * 7" } }] },
  },
  {
    name: "say",
    reply: { content: "It is 42, which is a number that many people know by heart." },
  },
];

async function json<T>(path: string, body?: unknown, method = "POST"): Promise<T> {
  const response = await worker.fetch(path, body === undefined ? {} : jsonInit(body, method));
  expect(response.status, await response.clone().text()).toBeLessThan(300);
  return (await response.json()) as T;
}

async function newTeam(component: unknown): Promise<string> {
  return (await json<{ id: string }>("/v1/teams", { component })).id;
}

async function run(team: string, task: unknown = "Go on."): Promise<RunInfo> {
  return json<RunInfo>(`/v1/teams/${team}/runs?wait=60`, { task });
}

async function chats(team: string, id: string): Promise<TraceSpan[]> {
  const trace = await json<RunTrace>(`/v1/teams/${team}/runs/${id}/trace`);
  return trace.spans.filter(({ kind }) => kind === "chat");
}

async function requestsOf(team: string, { id }: Pick<RunInfo, "id">): Promise<ModelRequest[]> {
  const found: ModelRequest[] = [];
  for (const { span_id } of await chats(team, id))
    found.push(await json(`/v1/teams/${team}/runs/${id}/steps/${span_id}/request`));
  return found;
}

/** What the server received since the last call, which the requests of these runs have to be. */
async function expectSame(
  team: string,
  runs: readonly RunInfo[],
  server_path = "/chat/completions",
): Promise<ModelRequest[]> {
  const shown: ModelRequest[] = [];
  for (const one of runs) {
    expect(one.status, JSON.stringify(one.error)).toBe("completed");
    shown.push(...(await requestsOf(team, one)));
  }
  const received = openai.log.requests.map(({ body }) => body);
  openai.log.clear();
  const bodies = shown.map(({ body }) => body);
  // Agents that work at once ask in any order.
  expect(inOneOrder(bodies)).toEqual(inOneOrder(received));
  expect(shown.length).toBeGreaterThan(0);
  for (const one of shown) {
    expect(one).toMatchObject({ matches: true, shortened: null, server_path });
    expect(one.reply).not.toBeNull();
    expect(JSON.stringify(one)).not.toContain(KEY);
  }
  return shown;
}

function inOneOrder(bodies: readonly unknown[]): unknown[] {
  return bodies.toSorted((one, other) =>
    JSON.stringify(one).localeCompare(JSON.stringify(other), "en"),
  );
}

function rules(...given: RuleInput[]): void {
  openai.rules.set(given);
  openai.log.clear();
}

test("plain turns show their requests, streamed and not, over several runs", async () => {
  rules({
    name: "say",
    reply: { content: "A line that is long enough to be stored by reference only, once." },
  });
  const team = await newTeam(
    roundRobin([
      assistant("ann"),
      assistant("ben", { model_client_stream: true, model_client: model({ temperature: 0.25 }) }),
    ]),
  );
  const runs = [await run(team, "Begin."), await run(team, "Continue.")];
  const shown = await expectSame(team, runs);
  expect(shown[1]).toMatchObject({
    agent: "ben",
    model: "gpt-4o",
    parameters: { model: "gpt-4o", temperature: 0.25, stream: true },
    tools: [],
    reply: { finish_reason: "stop", content: expect.stringMatching(/^A line/) },
    failed_attempts: [],
    context: { method: "tokenizer", prompt_tokens: expect.any(Number), window: 128_000 },
  });
  expect(shown[1]?.messages[0]).toEqual({ content: "You are ben.", type: "SystemMessage" });
  expect(shown[1]?.context.parts).toEqual([
    { part: "system", messages: 1, tokens: expect.any(Number) },
    { part: "memory", messages: 0, tokens: 0 },
    { part: "history", messages: 2, tokens: expect.any(Number) },
    { part: "tools", messages: 0, tokens: 0 },
  ]);
});

test("tools and the reflection on their results show their requests", async () => {
  rules(...CALCULATES);
  const tools = { tools: [calculator], reflect_on_tool_use: true };
  const team = await newTeam(roundRobin([assistant("clerk", tools)]));
  const [first, second] = await expectSame(team, [await run(team, "What is six times seven?")]);
  expect(first?.tools).toMatchObject([{ name: "calculator" }]);
  expect(first?.context.parts.at(-1)).toMatchObject({ part: "tools", messages: 1 });
  expect(first?.reply).toMatchObject({ finish_reason: "function_calls" });
  expect(second?.messages.map(({ type }) => type)).toEqual([
    "SystemMessage",
    "UserMessage",
    "AssistantMessage",
    "FunctionExecutionResultMessage",
  ]);
});

test("a graph with a loop and two agents at once shows its requests, over two runs", async () => {
  rules(
    { name: "reject", match: { system: "You are critic." }, times: 1, reply: { content: "AGAIN" } },
    { name: "approve", match: { system: "You are critic." }, reply: { content: "GOOD" } },
    { name: "say", reply: { content: "A draft that is long enough to be stored only once." } },
  );
  const edge = (target: string, condition?: string) => ({
    target,
    ...(condition !== undefined && { condition }),
  });
  const nodes = {
    writer: [edge("critic")],
    critic: [edge("writer", "AGAIN"), edge("grammar", "GOOD"), edge("facts", "GOOD")],
    grammar: [edge("editor")],
    facts: [edge("editor")],
    editor: [],
  };
  const team = await newTeam({
    provider: "GraphFlow",
    config: {
      participants: Object.keys(nodes).map((name) => assistant(name)),
      graph: {
        default_start_node: "writer",
        nodes: Object.fromEntries(
          Object.entries(nodes).map(([name, edges]) => [
            name,
            { name, edges, activation: name === "writer" ? "any" : "all" },
          ]),
        ),
      },
      termination_condition: { provider: "MaxMessageTermination", config: { max_messages: 30 } },
    },
  });
  const first = await run(team, "Write.");
  const shown = await expectSame(team, [first, await run(team, "Write another one.")]);
  const speakers = shown.map(({ agent }) => agent);
  expect(speakers.slice(0, 4)).toEqual(["writer", "critic", "writer", "critic"]);
  expect(speakers.slice(4, 6)).toEqual(expect.arrayContaining(["facts", "grammar"]));
  expect(speakers.slice(6, 9)).toEqual(["editor", "writer", "critic"]);
});

test("the data that a model's maker needs back are in the requests", async () => {
  const [calculates, says] = CALCULATES as [RuleInput, RuleInput];
  rules({ ...calculates, reply: { ...calculates.reply, reasoning: "I must calculate." } }, says);
  const thinking = { model: "gpt-5.4", api: "responses", reasoning_effort: "medium" };
  const clerk = { tools: [calculator], model_client: model(thinking), max_tool_iterations: 2 };
  const team = await newTeam(roundRobin([assistant("clerk", clerk)]));
  const [, second] = await expectSame(team, [await run(team, "6 * 7?")], "/responses");
  expect(JSON.stringify(second?.body)).toContain('"encrypted_content"');
});

test("memories that are lists, and those of the team, are in the requests", async () => {
  rules({ name: "say", reply: { content: "Yes." } });
  const content = { content: "The user likes tea.", mime_type: "text/plain" };
  const list = {
    provider: "autogen_core.memory.ListMemory",
    config: { memory_contents: [content] },
  };
  const notes = { provider: "troupe.memory.NotesMemory", config: {} };
  const team = await newTeam(roundRobin([assistant("ann", { memory: [list, notes] })]));
  const [shown] = await expectSame(team, [await run(team, "Tea?")]);
  expect(shown?.context.parts).toMatchObject([
    { part: "system", messages: 1 },
    { part: "memory", messages: 1 },
    { part: "history", messages: 1 },
    { part: "tools" },
  ]);
  expect(shown?.context.parts[1]?.tokens).toBeGreaterThan(5);
});

test("a memory that calls its model when a run ends shows its request", async () => {
  const learns = (...facts: string[]) =>
    rules(
      { name: "learn", match: { any: "facts" }, reply: { content: JSON.stringify({ facts }) } },
      { name: "say", reply: { content: "I will remember it." } },
    );
  learns();
  const extract = { model_client: model() };
  const memory = { provider: "troupe.memory.VectorMemory", config: { extract } };
  const team = await newTeam(roundRobin([assistant("ann", { memory: [memory] })]));
  const runs = [await run(team, "I like tea."), await run(team, "Ada likes tea, too.")];
  const shown = await expectSame(team, runs);
  expect(shown).toHaveLength(4);

  // Found by words, without a step: what is learned now is in all of them, and they say that they differ.
  learns("Ada likes tea.");
  await run(team, "Remember what Ada likes.");
  const [, , answer, extraction] = [
    ...(await requestsOf(team, runs[0] as RunInfo)),
    ...(await requestsOf(team, runs[1] as RunInfo)),
  ];
  for (const one of [answer, extraction]) {
    expect(one).toMatchObject({ matches: false, reply: { finish_reason: "stop" } });
    expect(JSON.stringify(one?.body)).toContain("Ada likes tea.");
  }
});

test("a secret that is a word of JSON leaves the rest of a request as it is", async () => {
  rules({ name: "say", reply: { content: "It is true." } });
  const stream = { model_client_stream: true, model_client: model({ api_key: "true" }) };
  const team = await newTeam(roundRobin([assistant("ann", stream)]));
  const [shown] = await requestsOf(team, await run(team));
  expect(shown).toMatchObject({
    matches: true,
    body: { stream: true },
    reply: { content: "It is [redacted]." },
  });
});

test("a handoff, a selector and a graph show their requests", async () => {
  rules(
    {
      name: "hand over",
      match: { system: "You are ann." },
      reply: { tool_calls: [{ name: "transfer_to_ben" }] },
    },
    { name: "end", reply: { content: "It is done: TERMINATE" } },
  );
  const termination_condition = {
    provider: "TextMentionTermination",
    config: { text: "TERMINATE" },
  };
  const swarm = await newTeam({
    provider: "Swarm",
    config: {
      participants: [assistant("ann", { handoffs: ["ben"] }), assistant("ben")],
      termination_condition,
    },
  });
  await expectSame(swarm, [await run(swarm)]);

  rules(
    { name: "nonsense", match: { any: "select the next role" }, reply: { content: "carl" } },
    { name: "select", match: { any: "roles" }, reply: { content: "ben" } },
    { name: "say", reply: { content: "TERMINATE" } },
  );
  const selector = await newTeam({
    provider: "SelectorGroupChat",
    config: {
      participants: [assistant("ann"), assistant("ben")],
      model_client: model(),
      selector_prompt: "Choose one of the roles {participants}. {history}",
      termination_condition,
    },
  });
  const [selected] = await expectSame(selector, [await run(selector)]);
  expect(selected).toMatchObject({ agent: null });

  rules({ name: "say", reply: { content: "A part of it." } });
  const next = (...targets: string[]) => targets.map((target) => ({ target }));
  const names = ["ann", "ben", "carl", "dora"];
  const graph = await newTeam({
    provider: "GraphFlow",
    config: {
      participants: names.map((name) => assistant(name)),
      graph: {
        nodes: {
          ann: { name: "ann", edges: next("ben", "carl") },
          ben: { name: "ben", edges: next("dora") },
          carl: { name: "carl", edges: next("dora") },
          dora: { name: "dora", edges: [] },
        },
      },
    },
  });
  // Those of one turn stand in the order of their spans, which need not be that of their arrival.
  const shown = await requestsOf(graph, await run(graph));
  expect(shown.map(({ agent }) => agent)).toEqual(names);
  expect(shown.map(({ matches }) => matches)).toEqual(names.map(() => true));
  const bodies = openai.log.requests.map(({ body }) => body);
  expect(bodies).toHaveLength(names.length);
  expect(shown.map(({ body }) => body)).toEqual(expect.arrayContaining(bodies));
});

test("Magentic-One shows its requests, with its ledgers", async () => {
  const say = { content: "The orchestrator's facts and its plan are as long as they have to be." };
  rules(
    {
      name: "first round",
      match: { user: "is_request_satisfied" },
      reply: { content: ledger({ speaker: "ann" }) },
    },
    { name: "say", reply: say },
  );
  const team = await newTeam({
    provider: "MagenticOneGroupChat",
    config: { participants: [assistant("ann")], model_client: model(), max_turns: 2 },
  });
  const shown = await expectSame(team, [await run(team, "Find out.")]);
  expect(shown.length).toBeGreaterThan(3);
});

test("a team inside an agent shows its requests", async () => {
  rules({ name: "say", reply: { content: "An inner voice." } });
  const inner = roundRobin([assistant("one"), assistant("two")]);
  const society = {
    provider: "SocietyOfMindAgent",
    config: { name: "society", team: inner, model_client: model() },
  };
  const team = await newTeam(roundRobin([society]));
  const shown = await expectSame(team, [await run(team)]);
  expect(shown.map(({ agent }) => agent)).toEqual(["one", "two", "society"]);
});

test("a fork with images and a summarised context shows its requests", async () => {
  rules({ name: "say", reply: { content: "A picture. ".repeat(60) } });
  const data =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const model_context = {
    provider: "troupe.model_context.SummaryChatCompletionContext",
    config: { token_limit: 300, keep_last: 1 },
  };
  const team = await newTeam(roundRobin([assistant("ann", { model_context })]));
  const task = [
    { type: "MultiModalMessage", source: "user", content: ["What is this?", { data }] },
  ];
  const runs = [await run(team, task), await run(team), await run(team), await run(team)];
  const shown = await expectSame(team, runs);
  expect(JSON.stringify(shown[0]?.body)).toContain(data);
  // Summaries are requests of their own.
  expect(shown.length).toBeGreaterThan(runs.length);

  const fork = await json<{ id: string }>(`/v1/teams/${team}/fork`, {});
  await expectSame(fork.id, [await run(fork.id, "And in the fork?")]);
  // The original's requests stay what they were.
  const again = [];
  for (const one of runs) again.push(...(await requestsOf(team, one)));
  expect(again).toEqual(shown);
});

test("a team whose component was replaced shows the earlier requests of its agent", async () => {
  rules({ name: "say", reply: { content: "Yes." } });
  const team = await newTeam(roundRobin([assistant("ann")]));
  const before = await run(team, "Before?");
  const component = roundRobin([assistant("ann", { system_message: "You are another one." })]);
  await json(`/v1/teams/${team}/component`, { component }, "PUT");
  const after = await run(team, "After?");
  await expectSame(team, [before, after]);
});

test("attempts that failed keep their text and the texts of their errors", async () => {
  rules(
    {
      name: "cut",
      times: 1,
      reply: { content: "It begins well and then" },
      fault: { kind: "cut", after_chunks: 4 },
    },
    { name: "say", reply: { content: "It ends well." } },
  );
  const team = await newTeam(roundRobin([assistant("ann", { model_client_stream: true })]));
  const done = await run(team);
  const [shown] = await requestsOf(team, done);
  expect(shown).toMatchObject({
    matches: true,
    reply: { content: "It ends well." },
    failed_attempts: [
      {
        attempt: 1,
        error: { type: expect.any(String), message: expect.stringMatching(/\w/) },
        text: expect.stringMatching(/^It begins/),
      },
    ],
  });
  // Neither the text nor what the error said is in the trace.
  const trace = await json<RunTrace>(`/v1/teams/${team}/runs/${done.id}/trace`);
  expect(JSON.stringify(trace)).not.toContain("It begins");
});

test("a run that failed shows its request, and the part that had arrived", async () => {
  rules({
    name: "refuse",
    fault: { kind: "status", status: 400, message: `No: ${KEY} may not.` },
  });
  const team = await newTeam(roundRobin([assistant("ann")]));
  const failed = await run(team);
  expect(failed.status).toBe("failed");
  const [shown] = await requestsOf(team, failed);
  expect(shown).toMatchObject({ matches: true, reply: null, error: { type: expect.any(String) } });
  expect(shown?.body).toEqual(openai.log.requests[0]?.body);
  expect(JSON.stringify(shown)).not.toContain(KEY);
  // The next run does not take it away.
  rules({ name: "say", reply: { content: "Yes." } });
  expect((await run(team)).status).toBe("completed");
  expect(await requestsOf(team, failed)).toEqual([shown]);
});

test("a request is known while its answer is awaited", async () => {
  rules({ name: "held", hold: true, reply: { content: "At last." } });
  const team = await newTeam(roundRobin([assistant("ann")]));
  const started = await json<RunInfo>(`/v1/teams/${team}/runs`, { task: "Wait." });
  await openai.log.until((requests) => requests.length === 1);
  const [shown] = await requestsOf(team, started);
  expect(shown).toMatchObject({ matches: null, reply: null });
  expect(shown?.body).toEqual(openai.log.requests[0]?.body);
  openai.release("held");
  await expect
    .poll(async () => (await requestsOf(team, started))[0])
    .toMatchObject({ matches: true, reply: { content: "At last." } });
});

test("long requests are shortened, with a note", async () => {
  rules({ name: "say", reply: { content: "Long." } });
  const team = await newTeam(roundRobin([assistant("ann")]));
  const [shown] = await requestsOf(team, await run(team, "word ".repeat(90_000)));
  // A text of 450,000 characters is shown whole; with the next one the request is too long.
  expect(shown?.shortened).toBeNull();
  const [longer] = await requestsOf(team, await run(team, "word ".repeat(90_000)));
  expect(longer).toMatchObject({
    shortened: { messages_left_out: 0 },
    context: { method: "length" },
  });
  const text = String(longer?.messages[1]?.["content"]);
  expect(text).toMatch(/^word word .*… \(\d+ more characters\)$/s);
  expect(JSON.stringify(longer?.messages).length).toBeLessThanOrEqual(500_000);
});

test("other steps and unknown ones have no request", async () => {
  rules(...CALCULATES);
  const team = await newTeam(roundRobin([assistant("clerk", { tools: [calculator] })]));
  const done = await run(team, "What is six times seven?");
  const at = (step: string) => `/v1/teams/${team}/runs/${done.id}/steps/${step}/request`;
  const { spans } = await json<RunTrace>(`/v1/teams/${team}/runs/${done.id}/trace`);
  const tool = spans.find(({ kind }) => kind === "execute_tool")?.span_id ?? "";
  for (const step of [tool, "0123456789abcdef"]) {
    const refused = await worker.fetch(at(step));
    expect(refused.status).toBe(404);
    expect(await refused.json()).toMatchObject({ code: "step_not_found" });
  }
  const noRun = await worker.fetch(at(tool).replace(done.id, crypto.randomUUID()));
  expect(await noRun.json()).toMatchObject({ status: 404, code: "run_not_found" });
});
