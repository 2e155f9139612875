import { describe, expect, test } from "vitest";
import {
  AgentTool,
  AssistantAgent,
  BufferedChatCompletionContext,
  Catalog,
  ComponentRegistry,
  MaxMessageTermination,
  ReplayChatCompletionClient,
  RoundRobinGroupChat,
  SocietyOfMindAgent,
  Swarm,
  UserProxyAgent,
  chunkEvents,
  coreComponents,
  createMessage,
  dumpComponent,
  reset,
  run,
  runStream,
  toText,
  type SocietyOfMindAgentOptions,
} from "troupe";
import type { JsonObject, Message, ModelInfo, Team, ThoughtEvent } from "troupe";
import { StateTree } from "#core/state/state-tree.ts";
import {
  ScriptedChatCompletionClient,
  type ScriptedReply,
} from "#testing/scripted-chat-completion-client.ts";
import { lines, ORIGIN, speaker, TestAgent, text } from "../support/agents.ts";
import { outcome, RecordingHost } from "../support/recording-host.ts";

const scripted = (replies: readonly ScriptedReply[], info: Partial<ModelInfo> = {}) =>
  new ScriptedChatCompletionClient(replies, info);

const mind = (team: Team, options: Partial<SocietyOfMindAgentOptions> = {}) =>
  new SocietyOfMindAgent({
    name: "mind",
    team,
    modelClient: scripted(["Answer 1.", "Answer 2.", "Answer 3."]),
    ...options,
  });

const streamed = async (agent: SocietyOfMindAgent, task: string | null) => {
  const messages: Message[] = [];
  for await (const item of runStream(agent, { task, outputTaskMessages: false })) {
    if (item.type !== "TaskResult") messages.push(item);
  }
  return lines(messages);
};

describe("a society of mind", () => {
  test("has its team work on a request, and answers with the model's summary", async () => {
    const ann = new TestAgent("ann");
    const bob = new TestAgent("bob");
    const modelClient = scripted(["All good."]);
    const team = new RoundRobinGroupChat([ann, bob], { maxTurns: 2 });
    const agent = mind(team, { modelClient, instruction: "Read.", responsePrompt: "Answer." });
    expect(await streamed(agent, "go")).toEqual(["ann: ann1", "bob: bob1", "mind: All good."]);
    expect(modelClient.requests.map(({ messages }) => messages)).toEqual([
      [
        { type: "UserMessage", source: "user", content: "Read." },
        { type: "UserMessage", source: "ann", content: "ann1" },
        { type: "UserMessage", source: "bob", content: "bob1" },
        { type: "UserMessage", source: "user", content: "Answer." },
      ],
    ]);
    expect(team.conversation()).toEqual([]);
    expect(ann.calls).toEqual(["reset"]);
  });

  test("directs by system messages a model that takes several", async () => {
    const modelClient = scripted(["ok"], { multipleSystemMessages: true });
    await run(
      mind(new RoundRobinGroupChat([new TestAgent("ann")], { maxTurns: 1 }), { modelClient }),
    );
    expect(modelClient.requests[0]?.messages.map(({ type }) => type)).toEqual([
      "SystemMessage",
      "UserMessage",
      "SystemMessage",
    ]);
  });

  test("shows only its answer in a plain run", async () => {
    const agent = mind(new RoundRobinGroupChat([new TestAgent("ann")], { maxTurns: 1 }));
    const { messages } = await run(agent, { task: "go" });
    expect(lines(messages)).toEqual(["user: go", "mind: Answer 1."]);
  });

  test("sends the team earlier requests, as much as its context shows", async () => {
    const ann = speaker("ann", (heard) =>
      heard
        .map((message) =>
          message.type === "HandoffMessage"
            ? message.context.map(({ content }) => `<${JSON.stringify(content)}>`).join("")
            : toText(message),
        )
        .join(" "),
    );
    const team = new RoundRobinGroupChat([ann], { maxTurns: 1 });
    const agent = mind(team, { modelContext: new BufferedChatCompletionContext(2) });
    const said = [];
    for (const task of ["one", "two", "three"]) said.push((await streamed(agent, task))[0]);
    expect(said).toEqual(["ann: one", 'ann: <"one"> two', 'ann: <"one"><"two"> three']);
    expect(agent.saveState()).toMatchObject({
      troupe: {
        llm_context: { messages: [{ content: "one" }, { content: "two" }, { content: "three" }] },
      },
    });
    await reset(agent);
    expect(agent.saveState()).toMatchObject({ troupe: { llm_context: { messages: [] } } });
  });

  test("does not call its model when the team said nothing", async () => {
    const team = new RoundRobinGroupChat([new TestAgent("ann")], {
      terminationCondition: new MaxMessageTermination(1),
    });
    const modelClient = scripted([]);
    expect(await streamed(mind(team, { modelClient }), "go")).toEqual(["mind: No response."]);
  });

  test("passes pieces of text on, which the model does not read", async () => {
    const ann = new TestAgent("ann", async function* (_heard, ctx) {
      const id = ctx.id();
      yield chunkEvents(ctx, "ann", id)("We");
      yield createMessage<ThoughtEvent>(ctx, {
        type: "ThoughtEvent",
        source: "ann",
        content: "hm",
      });
      return { chatMessage: { ...text("ann", "Well", ctx), id }, innerMessages: null };
    });
    const modelClient = scripted(["ok"]);
    const agent = mind(new RoundRobinGroupChat([ann], { maxTurns: 1 }), { modelClient });
    expect(await streamed(agent, "go")).toEqual(["ann: We", "ann: hm", "ann: Well", "mind: ok"]);
    expect(modelClient.requests[0]?.messages).toHaveLength(3);
  });

  test("fails when its model answers with tool calls, and can be asked again", async () => {
    const call = [{ id: "c", name: "f", arguments: "{}" }];
    const ann = new TestAgent("ann");
    const team = new RoundRobinGroupChat([ann], { maxTurns: 1 });
    const agent = mind(team, { modelClient: scripted([call, "fine"]) });
    await expect(run(agent, { task: "go" })).rejects.toMatchObject({ code: "no_text" });
    expect(await streamed(agent, "again")).toEqual(["ann: ann1", "mind: fine"]);
  });

  test("answers again and again with a swarm inside", async () => {
    const ann = new AssistantAgent({ name: "ann", modelClient: scripted(["a1", "a2"]) });
    const agent = mind(new Swarm([ann], { maxTurns: 1 }));
    expect(await streamed(agent, "one")).toEqual(["ann: a1", "mind: Answer 1."]);
    expect(await streamed(agent, "two")).toEqual(["ann: a2", "mind: Answer 2."]);
  });

  test("pauses, resumes and closes its team", async () => {
    const ann = new TestAgent("ann");
    const agent = mind(new RoundRobinGroupChat([ann]));
    await agent.onPause();
    await agent.onResume();
    await agent.close();
    expect(ann.calls).toEqual(["pause", "resume", "close"]);
  });
});

describe("the state of a society of mind", () => {
  const make = () => mind(new RoundRobinGroupChat([new TestAgent("ann")], { maxTurns: 1 }));

  test("contains the team and the requests, which AutoGen loses", async () => {
    const agent = make();
    await run(agent, { task: "one" });
    const state = agent.saveState();
    expect(state).toMatchObject({
      type: "SocietyOfMindAgentState",
      inner_team_state: { type: "TeamState" },
      troupe: { llm_context: { messages: [{ content: "one" }] } },
    });
    const copy = make();
    copy.loadState(state);
    expect(copy.saveState()).toEqual(state);
    const { troupe: _, ...fromAutoGen } = state;
    copy.loadState(fromAutoGen);
    expect(copy.saveState()).toEqual(state);
  });

  test("that does not fit is refused with the place, and changes nothing", async () => {
    const agent = make();
    await run(agent, { task: "one" });
    const before = agent.saveState();
    const wrong: [JsonObject, string][] = [
      [{ inner_team_state: 1 }, "inner_team_state"],
      [{ ...before, inner_team_state: {} }, "inner_team_state.agent_states.ann"],
      [{ ...before, troupe: { llm_context: { messages: [1] } } }, "troupe.llm_context.messages[0]"],
    ];
    for (const [state, path] of wrong) {
      expect(() => agent.loadState(state)).toThrow(
        expect.objectContaining({ issues: [expect.objectContaining({ path })] }),
      );
      expect(agent.saveState()).toEqual(before);
    }
  });

  test("is stored in pieces and rolled back with a turn that is given up", async () => {
    const modelClient = new ReplayChatCompletionClient(["one", "two"]);
    const agent = mind(new RoundRobinGroupChat([new TestAgent("ann")], { maxTurns: 1 }), {
      modelClient,
    });
    const before = agent.saveState();
    const tree = new StateTree(agent);
    await outcome(
      agent.onMessagesStream([text("user", "go", ORIGIN)], new RecordingHost().attempt()),
    );
    const { heads, logs } = tree.changes();
    expect(heads.map(({ path }) => path)).toEqual(["model_client"]);
    expect(logs.map(({ path }) => path)).toContain("context/messages");
    tree.rollback();
    expect(agent.saveState()).toEqual(before);
    expect(await streamed(agent, "go")).toEqual(["ann: ann1", "mind: one"]);
  });
});

/** A boss whose tool is an agent in whose team sits a society of mind with a team that asks a human. */
function nest(models: { calls: string[] }) {
  const client = (who: string, ...replies: ScriptedReply[]) =>
    scripted(
      replies.map((reply) => () => {
        models.calls.push(who);
        return reply;
      }),
    );
  const clerk = new AssistantAgent({ name: "clerk", modelClient: client("clerk", "noted") });
  const innermost = new RoundRobinGroupChat([new UserProxyAgent({ name: "human" }), clerk], {
    name: "innermost",
    maxTurns: 2,
  });
  const inner = new SocietyOfMindAgent({
    name: "inner",
    team: innermost,
    modelClient: client("inner", "The human says so."),
  });
  const middle = new SocietyOfMindAgent({
    name: "middle",
    team: new RoundRobinGroupChat([inner], { name: "middle_team", maxTurns: 1 }),
    modelClient: client("middle", "It is so."),
  });
  return new AssistantAgent({
    name: "boss",
    modelClient: client("boss", [{ id: "c", name: "middle", arguments: '{"task": "Ask."}' }]),
    tools: [new AgentTool(middle)],
  });
}

test("teams in societies in tools: a wait and a crash anywhere end in the same answer", async () => {
  const journal = new RecordingHost();
  const models = { calls: [] as string[] };
  const attempt = (afterSteps = Infinity) =>
    outcome(nest(models).onMessagesStream([], journal.attempt({ afterSteps })));
  expect((await attempt()).error).toMatchObject({ kind: "suspend" });
  const [question] = journal.questions;
  expect(question).toMatchObject({ source: "human", prompt: "Enter your response: " });
  journal.answers.set(question!.id, { content: "yes" });
  // The boss's model has answered. Three steps are left, and each of these attempts makes one.
  for (let crashes = 0; crashes < 2; crashes++) {
    expect((await attempt(1)).error).toMatchObject({ kind: "superseded" });
  }
  const { items, result } = await attempt();
  expect(lines(items).slice(1, -1)).toEqual([
    "user: Ask.",
    "human: ",
    "human: yes",
    "clerk: noted",
    "inner: The human says so.",
    "middle: It is so.",
  ]);
  expect(result?.chatMessage).toMatchObject({
    content: expect.stringContaining("middle: It is so."),
  });
  expect((await attempt()).items.map(({ id }) => id)).toEqual(items.map(({ id }) => id));
  expect(models.calls).toEqual(["boss", "clerk", "inner", "middle"]);
  expect([...journal.records.keys()]).toEqual([
    "model:0",
    "tool:0:0/turn:1/team/turn:1/speaker:inner/team/turn:2/speaker:clerk/model:0",
    "tool:0:0/turn:1/team/turn:1/speaker:inner/model:0",
    "tool:0:0/turn:1/model:0",
  ]);
});

test("component JSON has all its texts; empty ones stand for the defaults", () => {
  const registry = new ComponentRegistry().register(...coreComponents(new Catalog()));
  const defaults = mind(new RoundRobinGroupChat([new UserProxyAgent({ name: "human" })]), {
    modelClient: new ReplayChatCompletionClient([]),
  });
  const json = dumpComponent(defaults);
  expect(Object.keys(json.config)).toEqual([
    "name",
    "team",
    "model_client",
    "description",
    "instruction",
    "response_prompt",
    "model_context",
  ]);
  const sparse = {
    ...json,
    config: {
      ...json.config,
      description: null,
      instruction: "",
      response_prompt: null,
      model_context: null,
    },
  };
  expect(dumpComponent(registry.load(sparse, "agent"))).toEqual(json);
});
