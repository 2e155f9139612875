import { readdirSync } from "node:fs";
import { afterEach, describe, expect, test, vi } from "vitest";
import type {
  ChatAgent,
  ChatCompletionContext,
  Json,
  JsonObject,
  Runnable,
  Stateful,
  Workbench,
} from "troupe";
import {
  Catalog,
  ComponentRegistry,
  FunctionTool,
  SelectorGroupChat,
  coreComponents,
  dumpComponent,
  loadMessage,
  run,
  type Component,
} from "troupe";
import { InMemoryHost } from "#core/run/in-memory-host.ts";
import { TurnScope } from "#core/turn/turn-scope.ts";
import { ScriptedChatCompletionClient } from "#testing/scripted-chat-completion-client.ts";
import { testOrigin } from "../core/messages/origin.ts";
import { ledger } from "../core/support/ledger.ts";
import { liesIn } from "./deviations/excuse.ts";
import { readDeviations } from "./deviations.ts";
import { InMemory } from "./in-memory.ts";
import { type Outcome, play as playOn } from "./play.ts";
import { CodeStandIn } from "./stand-ins/code.ts";
import { readTrace } from "./read-trace.ts";
import type { ToolTable, Trace } from "./trace.ts";

const catalog = new Catalog();
catalog.registerTool(
  new FunctionTool({
    name: "add",
    description: "Adds.",
    parameters: { type: "object", properties: { a: { type: "integer" }, b: { type: "integer" } } },
    execute: ({ a, b }) => Number(a) + Number(b),
  }),
);
const registry = new ComponentRegistry().register(...coreComponents(catalog));

function load<T extends Component>(provider: string, config: JsonObject): T {
  return registry.load<T>({ provider, config });
}

const model = (...replies: Json[]): JsonObject => ({
  provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
  config: {
    chat_completions: replies,
    model_info: {
      vision: false,
      function_calling: true,
      json_output: true,
      structured_output: true,
      family: "unknown",
    },
  },
});

const agent = (name: string, replies: Json[], config: JsonObject = {}): JsonObject => ({
  provider: "autogen_agentchat.agents.AssistantAgent",
  config: {
    name,
    description: "Helps.",
    reflect_on_tool_use: false,
    tool_call_summary_format: "{result}",
    model_client: model(...replies),
    ...config,
  },
});

/** A model's reply that calls tools. */
const asks = (content: JsonObject[]): JsonObject => ({
  finish_reason: "function_calls",
  content,
  usage: { prompt_tokens: 1, completion_tokens: 1 },
  cached: false,
});

const agentAsTool = (tool: JsonObject): JsonObject => ({
  provider: "autogen_core.tools.StaticStreamWorkbench",
  config: { tools: [{ provider: "autogen_agentchat.tools.AgentTool", config: { agent: tool } }] },
});

const roundRobin = (participants: JsonObject[], config: JsonObject = {}): JsonObject => ({
  provider: "autogen_agentchat.teams.RoundRobinGroupChat",
  config: { participants, ...config },
});

const team = (json: JsonObject): Runnable & Component => registry.load(json, "team");

const functionTool: JsonObject = {
  provider: "autogen_core.tools.FunctionTool",
  component_type: "tool",
  version: 1,
  component_version: 1,
  config: { name: "add", description: "Adds.", source_code: "def add(a, b): ...", strict: false },
};

/** Plays a trace of which no deviation is listed. */
function play(trace: Trace): Promise<Outcome> {
  return playOn(trace, InMemory.of(trace), []);
}

afterEach(() => {
  vi.useRealTimers();
});

const folder = new URL("traces/", import.meta.url);

function recorded(name: string): Trace {
  return readTrace(new URL(`${name}.json`, folder).pathname);
}

test("the deviations met in the traces are the ones listed", async () => {
  const met: Json[] = [];
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted()) {
    if (!name.endsWith(".json")) continue;
    const trace = readTrace(new URL(name, folder).pathname);
    const { deviations } = await play(trace);
    met.push(...deviations.map((place) => ({ trace: trace.name, ...place })));
  }
  const listed = readDeviations().map(({ trace, step, class: name }) => ({
    trace,
    step,
    class: name,
  }));
  expect(met).toEqual(listed);
});

describe("an entry of the list", () => {
  const entries = readDeviations();

  test.each(entries.flatMap((entry) => (entry.differs ?? []).map((path) => ({ entry, path }))))(
    "$entry.trace step $entry.step: $path differs, and is excused only where it is named",
    async ({ entry, path }) => {
      const trace = recorded(entry.trace);
      const without = { ...entry, differs: entry.differs!.filter((other) => other !== path) };
      const listed = entries
        .filter((other) => other.trace === entry.trace)
        .map((other) => (other === entry ? without : other));
      const { failure } = await playOn(trace, InMemory.of(trace), listed);
      expect(failure).toMatchObject({ step: entry.step });
    },
  );

  test.each([
    [["a.b"], ["a.b", "a.b.c", "a.b[0]"], ["a", "a.bc", "a.c"]],
    [["events[2..]"], ["events[2]", "events[10].id"], ["events", "events[1]", "other[2]"]],
    [[], [], ["a"]],
  ])("%j excuses %j and not %j", (places, inside, outside) => {
    expect(inside.filter(liesIn(places))).toEqual(inside);
    expect(outside.filter(liesIn(places))).toEqual([]);
  });
});

describe("an unlisted deviation is recognised, and nothing else is accepted", () => {
  test("after-error: the difference is what follows a failed run, until the trace loads a fresh team", async () => {
    const trace = recorded("round_robin/after_error");
    expect((await play(trace)).failure).toBeUndefined();
    const fresh = { ...trace, steps: [...trace.steps] };
    fresh.steps.splice(1, 0, { op: "new" });
    expect((await play(fresh)).failure).toMatchObject({ step: 2 });
    const untimely = structuredClone(trace);
    untimely.steps[0]!["events"] = (untimely.steps[0]!["events"] as Json[]).slice(0, -1);
    expect((await play(untimely)).failure).toMatchObject({ step: 0 });
  });

  test.each(["round_robin/timeout_between_runs", "assistant/agent_tool_counted"])(
    "%s: an event before the difference still counts",
    async (name) => {
      const trace = recorded(name);
      expect((await play(trace)).failure).toBeUndefined();
      const { step } = (await play(trace)).deviations[0]!;
      const other = structuredClone(trace);
      (other.steps[step]!["events"] as JsonObject[])[0]!["source"] = "somebody";
      expect((await play(other)).failure).toMatchObject({ step });
    },
  );

  test("hidden-task: the task may be missing, nothing else", async () => {
    const trace = recorded("magentic_one/max_turns");
    expect((await play(trace)).failure).toBeUndefined();
    const shown = structuredClone(trace);
    shown.steps[0]!["output_task_messages"] = true;
    expect((await play(shown)).failure).toBeUndefined();
    const other = structuredClone(trace);
    (other.steps[0]!["events"] as JsonObject[])[2]!["content"] = "another ledger";
    expect((await play(other)).failure).toMatchObject({ step: 0 });
  });

  test("hidden-task: a participant may repeat a message less often, nothing else", async () => {
    const trace = recorded("magentic_one/as_participant");
    expect((await play(trace)).failure).toBeUndefined();
    const other = structuredClone(trace);
    (other.steps[0]!["events"] as JsonObject[])[2]!["source"] = "somebody";
    expect((await play(other)).failure).toMatchObject({ step: 0 });
  });

  test("ledger-speaker: a run may continue after a stranger was named, not after another failure", async () => {
    const trace = recorded("magentic_one/unknown_speaker");
    expect((await play(trace)).failure).toBeUndefined();
    const alike = JSON.parse(JSON.stringify(trace).replaceAll("waiter", "scout")) as Trace;
    expect((await play(alike)).failure).toMatchObject({ step: 0 });
  });

  test("chunks: a team that counts them may stop earlier, at the same events", async () => {
    const trace = recorded("assistant/agent_tool_counted");
    expect((await play(trace)).failure).toBeUndefined();
    const other = structuredClone(trace);
    const events = other.steps[0]!["events"] as JsonObject[];
    events.find(({ type }) => type === "ToolCallExecutionEvent")!["source"] = "bob";
    expect((await play(other)).failure).toMatchObject({ step: 0 });
  });

  test("filter-edges: the effects of a filter that is refused are not played, until the next subject", async () => {
    const trace = recorded("message_filter/edges");
    expect((await play(trace)).failure).toBeUndefined();
    const [, , refused, ...rest] = trace.steps;
    const from = (component: Json | undefined): Trace => ({
      ...trace,
      component: component as JsonObject,
      steps: rest,
      model_calls: trace.model_calls
        .filter(({ step }) => step > 2)
        .map((call) => ({ ...call, step: call.step - 3 })),
    });
    expect(await play(from(refused?.["component"]))).toMatchObject({
      deviations: [{ step: 0, class: "filter-edges" }],
      stale: [],
    });
    const other = structuredClone(refused!["component"]) as { config: JsonObject };
    delete other.config["wrapped_agent"];
    expect((await play(from(other))).failure?.difference.path).toBe("component");
    const untimely = structuredClone(trace);
    (untimely.steps[5]!["events"] as JsonObject[])[1]!["source"] = "somebody";
    expect((await play(untimely)).failure).toMatchObject({ step: 5 });
  });
});

describe("a class that shows in several operations", () => {
  const trace = (steps: Trace["steps"], component?: JsonObject): Trace => ({
    ...recorded("team_state/errors"),
    component,
    steps,
    model_calls: [],
  });
  const selector = (config: JsonObject = {}): JsonObject => ({
    provider: "autogen_agentchat.teams.SelectorGroupChat",
    component_type: "team",
    config: {
      participants: [agent("ann", ["x"]), agent("bob", ["y"])],
      model_client: model(),
      allow_repeated_speaker: false,
      selector_prompt: "{participants}",
      ...config,
    },
  });
  const error = { type: "ValueError", message: "No more mock responses available" };

  test("early-task: the task of a run that fails at once may be shown, nothing else", async () => {
    const early = { op: "run", task: "go", events: [], error };
    expect(await play(trace([early], selector()))).toMatchObject({
      deviations: [{ step: 0, class: "early-task" }],
    });
    const silent = { ...early, output_task_messages: false };
    expect((await play(trace([silent], selector()))).deviations).toEqual([]);
    const { error: _, ...good } = early;
    expect((await play(trace([good], selector()))).failure).toMatchObject({ step: 0 });
    const spoken = { ...early, events: [{ type: "TextMessage", source: "user", content: "no" }] };
    expect((await play(trace([spoken], selector()))).failure).toMatchObject({ step: 0 });
  });

  test.each(["use", "new", "component"])("swarm-teams: the difference may be in %s", async (op) => {
    const swarm = (member: JsonObject): JsonObject => ({
      provider: "autogen_agentchat.teams.Swarm",
      component_type: "team",
      config: { participants: [agent("ann", [], { handoffs: [] }), member] },
    });
    const handsOver = swarm(selector({ name: "inner" }));
    // The first member of a Swarm must be able to hand over.
    const [first] = (handsOver["config"] as JsonObject)["participants"] as JsonObject[];
    (first!["config"] as JsonObject)["handoffs"] = [
      { target: "inner", description: "", name: "to_inner", message: "go" },
    ];
    const refused = { type: "ValueError", message: "not an agent", kind: "value" };
    const outcome = await play(trace([{ op, component: handsOver, error: refused }]));
    expect(outcome).toMatchObject({ deviations: [{ step: 0, class: "swarm-teams" }] });
    const plain = trace([{ op, component: selector(), error: refused }]);
    expect((await play(plain)).failure).toMatchObject({ step: 0 });
  });

  test("strict-values: a value with which every run fails is refused, and the runs are left out", async () => {
    const use = { op: "use", component: selector({ max_turns: 0 }) };
    const failing = { op: "run", task: "go", events: [], error };
    expect((await play(trace([use, failing]))).deviations.map((place) => place.class)).toEqual([
      "strict-values",
      "strict-values",
    ]);
    expect((await play(trace([failing], use.component))).failure).toBeUndefined();
    const { error: _, ...good } = failing;
    expect((await play(trace([use, good]))).failure).toMatchObject({ step: 0 });
    const allowed = { ...use, component: selector({ max_turns: "many" }) };
    expect((await play(trace([allowed, failing]))).failure).toMatchObject({ step: 0 });
  });

  test("strict-values: a state of another type is refused, naming the place", async () => {
    const { component, steps } = recorded("team_state/errors");
    const state = steps[1]!["state"] as { agent_states: { ann: { agent_state: JsonObject } } };
    const other = structuredClone(state);
    other.agent_states.ann.agent_state["type"] = "SocietyOfMindAgentState";
    expect(() => registry.load<Stateful & Component>(component!).loadState(other)).toThrow(
      /ann.*type.*AssistantAgentState/s,
    );
    expect(await play(trace([{ op: "load_state", state: other }], component))).toMatchObject({
      deviations: [{ step: 0, class: "strict-values" }],
    });
    const { agent_states: _, ...wrong } = other;
    const lacking = { op: "load_state", state: { ...wrong, agent_states: 3 } };
    expect((await play(trace([lacking], component))).failure).toMatchObject({ step: 0 });
  });

  test("atomic-load: AutoGen may save a part of a state that it refused, and only then", async () => {
    const errors = recorded("team_state/errors");
    const last = errors.steps.length - 1;
    const half = structuredClone(errors);
    const { agent_states } = half.steps[last]!["state"] as { agent_states: JsonObject };
    (agent_states["ann"] as JsonObject)["message_buffer"] = [];
    (agent_states["RoundRobinGroupChatManager"] as JsonObject)["current_turn"] = 7;
    expect(await play(half)).toMatchObject({ deviations: [{ step: last, class: "atomic-load" }] });
    const untouched = { ...half, steps: [half.steps[0]!, half.steps[last]!] };
    expect((await play(untouched)).failure).toMatchObject({ step: 1 });
  });

  test("renamed-tool: the difference may be in the stream of a workbench", async () => {
    const renamed = recorded("assistant/renamed_streamed");
    const config = renamed.component!["config"] as JsonObject;
    const workbench = ([config["workbench"]].flat() as JsonObject[])[0]!;
    const overrides = (workbench["config"] as JsonObject)["tool_overrides"] as JsonObject;
    const [name] = Object.values(overrides).map((entry) => (entry as JsonObject)["name"] as string);
    const tools = Object.fromEntries(
      Object.entries(renamed.tools).map(([key, table]): [string, ToolTable] => [
        key,
        { ...table, cases: [{ arguments: {}, result: "done" }] },
      ]),
    );
    const call = (shown: string): Trace => ({
      ...renamed,
      tools,
      component: workbench,
      model_calls: [],
      steps: [
        {
          op: "call_tool",
          name: shown,
          arguments: {},
          streaming: true,
          items: [
            {
              type: "ToolResult",
              name: shown,
              result: [{ type: "TextResultContent", content: `Tool ${shown} not found.` }],
              is_error: true,
            },
          ],
        },
      ],
    });
    expect(await play(call(name!))).toMatchObject({
      deviations: [{ step: 0, class: "renamed-tool" }],
    });
    expect((await play(call("nowhere"))).deviations).toEqual([]);
  });
});

describe("the requests of a selector", () => {
  /** The same trace with another text in a request. */
  const altered = (trace: Trace, call: number, from: string, to: string): Trace => {
    const other = structuredClone(trace);
    const [first] = other.model_calls[call]!["messages"] as { content: string }[];
    expect(first!.content).toContain(from);
    first!.content = first!.content.replace(from, to);
    return other;
  };

  test("selector-reload: they may lack messages that AutoGen has twice, and only after loading", async () => {
    const trace = recorded("team_state/selector_twice");
    expect((await play(trace)).failure).toBeUndefined();
    const call = trace.model_calls.findIndex(({ step }) => step === 5);
    const other = altered(trace, call, "user: soup", "user: stew");
    expect((await play(other)).failure).toMatchObject({ step: 5, op: "model call" });
    const untimely = altered(trace, 0, "user: bread", "user: bread\n\n\nuser: bread");
    expect((await play(untimely)).failure).toMatchObject({ step: 0, op: "model call" });
  });

  test("lists: they may print lists in the conversation in their own way, nothing else", async () => {
    const trace = recorded("selector/lists");
    expect((await play(trace)).failure).toBeUndefined();
    const other = altered(trace, 0, "desk: Yours.", "desk: Mine.");
    expect((await play(other)).failure).toMatchObject({ op: "model call" });
  });
});

describe("the difference in Troupe", () => {
  test("numbers: structured content prints as JSON does", () => {
    const message = loadMessage(
      { type: "StructuredMessage[S]", source: "a", content: { n: 3.0, m: 2.5 } },
      testOrigin(),
    );
    expect(JSON.stringify("content" in message && message.content)).toBe('{"n":3,"m":2.5}');
  });

  test("registered-types: messages of unknown type are kept as they are", () => {
    const input = { type: "Odd", source: "a", content: [1], more: true };
    expect(loadMessage(input, testOrigin())).toMatchObject(input);
  });

  const selector = (participants: JsonObject[], replies: string[], config: JsonObject = {}) => ({
    provider: "autogen_agentchat.teams.SelectorGroupChat",
    config: {
      participants,
      model_client: model(...replies),
      selector_prompt: "{history}",
      allow_repeated_speaker: true,
      max_turns: 1,
      ...config,
    },
  });

  test("registered-types: an inner team may show whatever events it has", async () => {
    const inner = selector([agent("ann", ["a1"]), agent("bob", [])], ["ann"], {
      name: "inner",
      emit_team_events: true,
      model_client_streaming: true,
    });
    const { messages } = await run(team(roundRobin([inner], { max_turns: 1 })), { task: "go" });
    expect(messages.map(({ type }) => type)).toEqual([
      "TextMessage",
      "SelectorEvent",
      "SelectSpeakerEvent",
      "TextMessage",
    ]);
  });

  test("selector-reload: a loaded state replaces the selector's conversation", async () => {
    const pair = (modelClient: ScriptedChatCompletionClient) =>
      new SelectorGroupChat(
        [agent("ann", ["a1", "a2"]), agent("bob", [])].map((one) =>
          registry.load<ChatAgent & Component>(one),
        ),
        { modelClient, selectorPrompt: "{history}", allowRepeatedSpeaker: true, maxTurns: 1 },
      );
    const [once, often] = [
      ["ann", "ann"],
      ["ann", "ann"],
    ].map((replies) => new ScriptedChatCompletionClient(replies)) as [
      ScriptedChatCompletionClient,
      ScriptedChatCompletionClient,
    ];
    const saved = pair(once);
    await run(saved, { task: "go" });
    const state = saved.saveState();
    await run(saved, { task: "on" });
    const loaded = pair(often);
    await run(loaded, { task: "something else" });
    loaded.loadState(state);
    loaded.loadState(state);
    await run(loaded, { task: "on" });
    expect(often.requests.at(-1)?.messages).toEqual(once.requests.at(-1)?.messages);
  });

  test.each(["max_total_token", "max_prompt_token", "max_completion_token"])(
    "token-usage: %s alone makes a budget",
    (key) => {
      const budget = load("autogen_agentchat.conditions.TokenUsageTermination", { [key]: 10 });
      expect(dumpComponent(budget).config).toMatchObject({ [key]: 10 });
    },
  );

  const typed = {
    structured_message_factory: {
      provider: "autogen_agentchat.messages.StructuredMessageFactory",
      config: {
        json_schema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] },
        content_model_name: "Verdict",
      },
    },
  };

  test("typed-in-team: an agent with structured output works in a team", async () => {
    const judges = team(
      roundRobin([agent("judge", ['{"ok": true}'], typed), agent("clerk", ["noted"])], {
        max_turns: 2,
      }),
    );
    const { messages, stop_reason } = await run(judges, { task: "decide" });
    expect(messages.map(({ type }) => type)).toEqual([
      "TextMessage",
      "StructuredMessage[Verdict]",
      "TextMessage",
    ]);
    expect(stop_reason).toBe("Maximum number of turns 2 reached.");
  });

  test("string-handoff: a handoff may be given as the name of its target", () => {
    const desk = registry.load<Component>(agent("desk", [], { handoffs: ["sales"] }));
    expect(dumpComponent(desk).config["handoffs"]).toMatchObject([
      { target: "sales", name: "transfer_to_sales" },
    ]);
  });

  test("tool-dump: a function tool is dumped as it was loaded", () => {
    expect(dumpComponent(registry.load(functionTool))).toEqual(functionTool);
  });

  test("renamed-tool: a renamed tool is called by its shown name in both workbenches", async () => {
    for (const name of ["StaticWorkbench", "StaticStreamWorkbench"]) {
      const bench = load<Workbench>(`autogen_core.tools.${name}`, {
        tools: [functionTool],
        tool_overrides: { add: { name: "plus" } },
      });
      const ctx = TurnScope.root(new InMemoryHost({}).turn(0));
      const { value } = await bench.callTool("plus", { a: 1, b: 2 }, { ctx, callId: "c" }).next();
      expect(value).toMatchObject({ is_error: false, result: [{ content: "3" }] });
    }
  });

  test.each([
    ["BufferedChatCompletionContext", { buffer_size: 2 }],
    ["HeadAndTailChatCompletionContext", { head_size: 1, tail_size: 1 }],
  ])("initial-messages: a %s has them, and clearing empties it", async (name, config) => {
    const first = { content: "before", source: "user", type: "UserMessage" };
    const context = load<ChatCompletionContext>(`autogen_core.model_context.${name}`, {
      ...config,
      initial_messages: [first],
    });
    expect(await context.getMessages()).toEqual([first]);
    context.clear();
    expect(await context.getMessages()).toEqual([]);
  });

  test("after-error: the run after a failed one runs", async () => {
    const human = {
      provider: "autogen_agentchat.agents.UserProxyAgent",
      config: { name: "human" },
    };
    const pair = team(roundRobin([human, agent("ann", ["a1"])], { max_turns: 2 }));
    const refused = run(pair, { task: "go", answer: () => Promise.reject(new Error("gone")) });
    await expect(refused).rejects.toThrow("gone");
    const { messages } = await run(pair, {
      task: "again",
      answer: async () => ({ content: "yes" }),
    });
    expect(messages.map(({ type, source }) => `${source}: ${type}`)).toEqual([
      "user: TextMessage",
      "human: UserInputRequestedEvent",
      "human: TextMessage",
      "ann: TextMessage",
    ]);
  });

  const filtered = (filter: JsonObject): JsonObject => ({
    provider: "autogen_agentchat.agents.MessageFilterAgent",
    config: {
      name: "picky",
      wrapped_agent: agent("picky", ["1", "2"]),
      filter: { per_source: [filter] },
    },
  });

  test("filter-edges: a count of 0 lets nothing through, and one without position is refused", async () => {
    const picky = registry.load<ChatAgent>(
      filtered({ source: "user", position: "last", count: 0 }),
    );
    const { messages } = await run(picky, { task: "three whole words" });
    expect(messages.at(-1)?.models_usage?.prompt_tokens).toBe(0);
    expect(() => registry.load(filtered({ source: "user", count: 1 }))).toThrow("position");
  });

  const mind: JsonObject = {
    provider: "autogen_agentchat.agents.SocietyOfMindAgent",
    config: {
      name: "mind",
      team: roundRobin([agent("ann", ["1"])], { max_turns: 1 }),
      model_client: model("2"),
    },
  };

  test.each([
    ["a message filter", filtered({ source: "user" })],
    ["a society of mind", mind],
  ])("lost-state: %s saves its contents", async (_what, json) => {
    const subject = registry.load<ChatAgent>(json);
    await run(subject, { task: "remember this" });
    const copy = registry.load<ChatAgent>(json);
    copy.loadState(subject.saveState());
    expect(copy.saveState()).toEqual(subject.saveState());
    expect(JSON.stringify(copy.saveState())).toContain("remember this");
  });

  test("timeout: the time between runs does not count", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const timeout = {
      provider: "autogen_agentchat.conditions.TimeoutTermination",
      config: { timeout_seconds: 60 },
    };
    const lone = team(
      roundRobin([agent("ann", ["a1", "a2"])], { termination_condition: timeout, max_turns: 1 }),
    );
    await run(lone, { task: "go" });
    vi.advanceTimersByTime(120_000);
    const { stop_reason } = await run(lone, { task: "more" });
    expect(stop_reason).toBe("Maximum number of turns 1 reached.");
  });

  test("tool-sequence: parallel calls to one agent run one after the other", async () => {
    const twice = ["a", "b"].map((task, index) => ({
      id: `c${index}`,
      name: "helper",
      arguments: JSON.stringify({ task }),
    }));
    const ann = agent("ann", [asks(twice)], {
      workbench: [agentAsTool(agent("helper", ["h1", "h2"]))],
    });
    const { messages } = await run(registry.load<ChatAgent & Component>(ann), { task: "go" });
    expect(
      messages.map((message) => ("content" in message ? message.content : "")).slice(2, 6),
    ).toEqual(["a", "h1", "b", "h2"]);
  });

  test("chunks: pieces of an inner agent's text are neither part of a result nor events", async () => {
    const helper = agent("helper", ["one two three"], { model_client_stream: true });
    const call = asks([{ id: "c", name: "helper", arguments: '{"task": "help"}' }]);
    const ann = agent("ann", [call, "done"], {
      workbench: [agentAsTool(helper)],
    });
    const counting = {
      provider: "autogen_agentchat.conditions.MaxMessageTermination",
      config: { max_messages: 7, include_agent_event: true },
    };
    const pair = team(roundRobin([ann], { termination_condition: counting }));
    const { messages, stop_reason } = await run(pair, { task: "go" });
    expect(messages.map(({ type, source }) => `${source}: ${type}`)).toEqual([
      "user: TextMessage",
      "ann: ToolCallRequestEvent",
      "user: TextMessage",
      "helper: TextMessage",
      "ann: ToolCallExecutionEvent",
      "ann: ToolCallSummaryMessage",
      "ann: TextMessage",
    ]);
    expect(stop_reason).toBe("Maximum number of messages 7 reached, current message count: 7");
  });

  test("lone-team: an inner team without new messages continues without a task", async () => {
    const inner = roundRobin([agent("in", ["i1", "i2"])], { name: "inner", max_turns: 1 });
    const outer = team(roundRobin([inner], { max_turns: 2 }));
    const { messages } = await run(outer, { task: "go" });
    expect(messages.map((message) => "content" in message && message.content)).toEqual([
      "go",
      "i1",
      "i2",
    ]);
  });

  test("lost-state: the model context of a code executor agent is saved", async () => {
    const { definition } = new CodeStandIn([]);
    const executors = new ComponentRegistry().register(...coreComponents(catalog), definition);
    const coder = (): ChatAgent & Component =>
      executors.load({
        provider: "autogen_agentchat.agents.CodeExecutorAgent",
        config: {
          name: "coder",
          model_client: model("one", "two"),
          code_executor: { provider: definition.provider, config: {} },
        },
      });
    const first = coder();
    await run(first, { task: "go" });
    const second = coder();
    second.loadState(first.saveState());
    expect(second.saveState()).toEqual(first.saveState());
    expect(JSON.stringify(second.saveState()["troupe"])).toContain('"content":"one"');
  });

  const magentic = (replies: Json[], config: JsonObject = {}): JsonObject => ({
    provider: "autogen_agentchat.teams.MagenticOneGroupChat",
    config: {
      participants: [agent("ann", ["a1"]), agent("bob", ["b1"])],
      model_client: model("facts", "plan", ...replies),
      max_stalls: 3,
      final_answer_prompt: "The answer?",
      ...config,
    },
  });

  test("hidden-task: MagenticOne keeps the task out of the stream if configured to", async () => {
    const lead = team(magentic([ledger({ satisfied: true }), "done"]));
    const { messages } = await run(lead, { task: "secret", outputTaskMessages: false });
    expect(messages.map(({ source }) => source)).toEqual([
      "MagenticOneOrchestrator",
      "MagenticOneOrchestrator",
    ]);
  });

  test("hidden-task: as a participant, MagenticOne does not repeat its messages", async () => {
    const inner = magentic([ledger({ satisfied: true }), "done"], { name: "inner" });
    const outer = team(roundRobin([inner, agent("cid", ["c1"])], { max_turns: 2 }));
    const { messages } = await run(outer, { task: "go" });
    expect(messages.map(({ source }) => source)).toEqual([
      "user",
      "MagenticOneOrchestrator",
      "MagenticOneOrchestrator",
      "cid",
    ]);
  });

  test("ledger-speaker: a ledger that names a stranger is asked for again", async () => {
    const lead = team(
      magentic([
        ledger({ speaker: "eve" }),
        ledger({ speaker: "bob" }),
        ledger({ satisfied: true, reason: "seen" }),
        "done",
      ]),
    );
    const { messages, stop_reason } = await run(lead, { task: "go" });
    expect(messages.map(({ source }) => source)).toContain("bob");
    expect(stop_reason).toBe("seen");
  });
});
