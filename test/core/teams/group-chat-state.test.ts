import { describe, expect, test } from "vitest";
import {
  AssistantAgent,
  MaxMessageTermination,
  ReplayChatCompletionClient,
  RoundRobinGroupChat,
  SelectorGroupChat,
  StateError,
  Swarm,
  run,
} from "troupe";
import type { JsonObject, Team } from "troupe";
import { lines, TestAgent } from "../support/agents.ts";

function team(maxTurns = 1) {
  const ann = new TestAgent("ann");
  const bob = new TestAgent("bob");
  const chat = new RoundRobinGroupChat([ann, bob], {
    maxTurns,
    terminationCondition: new MaxMessageTermination(9),
  });
  return { ann, bob, chat };
}

/** As storage does it. */
const copy = (state: JsonObject): JsonObject => JSON.parse(JSON.stringify(state)) as JsonObject;

describe("a group chat's state", () => {
  test("has AutoGen's shape", async () => {
    const { chat } = team();
    const { messages } = await run(chat, { task: "go" });
    expect(chat.saveState()).toEqual({
      type: "TeamState",
      version: "1.0.0",
      agent_states: {
        ann: {
          type: "ChatAgentContainerState",
          version: "1.0.0",
          agent_state: { replies: 1 },
          message_buffer: [],
        },
        bob: {
          type: "ChatAgentContainerState",
          version: "1.0.0",
          agent_state: { replies: 0 },
          message_buffer: messages,
        },
        RoundRobinGroupChatManager: {
          type: "RoundRobinManagerState",
          version: "1.0.0",
          message_thread: messages,
          current_turn: 0,
          next_speaker_index: 1,
          troupe: { condition: { count: 0 } },
        },
      },
    });
  });

  test("loads into another team, which continues as the first one would have", async () => {
    const first = team();
    await run(first.chat, { task: "go" });
    const second = team();
    second.chat.loadState(copy(first.chat.saveState()));
    expect(second.chat.saveState()).toEqual(first.chat.saveState());
    expect(lines((await run(second.chat)).messages)).toEqual(["bob: bob1"]);
    expect(second.bob.heard).toEqual([["go", "ann1"]]);
    await run(second.chat);
    expect(second.ann.heard).toEqual([["bob1"]]);
  });

  test("that AutoGen has saved loads: unheard messages need not stand at the end of the thread", async () => {
    const { ann, chat } = team();
    const say = (id: string, content: string): JsonObject => ({
      id,
      source: "user",
      models_usage: null,
      metadata: {},
      created_at: "2026-01-01T00:00:00Z",
      content,
      type: "TextMessage",
    });
    chat.loadState({
      type: "TeamState",
      agent_states: {
        ann: { agent_state: {}, message_buffer: [say("1", "elsewhere"), say("2", "one")] },
        bob: { agent_state: {} },
        RoundRobinGroupChatManager: {
          message_thread: [say("2", "one"), say("3", "two")],
          current_turn: 0,
          next_speaker_index: 0,
        },
      },
    });
    await run(chat, { task: "go" });
    expect(ann.heard).toEqual([["elsewhere", "one", "go"]]);
  });

  test("lacks the pieces of text that AutoGen keeps in its thread", async () => {
    const { chat } = team();
    await run(chat, { task: "go" });
    const state = copy(chat.saveState());
    const saved = copy(state);
    const { RoundRobinGroupChatManager: manager } = state.agent_states as {
      RoundRobinGroupChatManager: { message_thread: JsonObject[] };
    };
    manager.message_thread.splice(1, 0, {
      type: "ModelClientStreamingChunkEvent",
      source: "ann",
      content: "an",
    });
    const { chat: other } = team();
    other.loadState(state);
    expect(other.saveState()).toEqual(saved);
  });

  test("has the turn counter and the condition, which continue", async () => {
    const { chat } = team(9);
    await run(chat, { task: "go" });
    const state = copy(chat.saveState());
    const manager = (state.agent_states as JsonObject).RoundRobinGroupChatManager as JsonObject;
    manager.current_turn = 7;
    manager.troupe = { condition: { count: 6 } };
    chat.loadState(state);
    expect((await run(chat)).stop_reason).toBe("Maximum number of turns 9 reached.");
    chat.loadState(state);
    expect((await run(chat, { task: "go" })).stop_reason).toBe(
      "Maximum number of messages 9 reached, current message count: 9",
    );
  });
});

describe("a state that does not fit", () => {
  const valid = (): { [name: string]: JsonObject } => {
    const { chat } = team();
    return copy(chat.saveState()).agent_states as { [name: string]: JsonObject };
  };
  const without = (name: string): JsonObject =>
    Object.fromEntries(Object.entries(valid()).filter(([key]) => key !== name));
  const withManager = (fields: JsonObject): JsonObject => ({
    ...valid(),
    RoundRobinGroupChatManager: { ...valid().RoundRobinGroupChatManager, ...fields },
  });

  test.each<[string, JsonObject, string]>([
    ["no states", {}, "agent_states.ann"],
    ["a text for states", { agent_states: "text" }, "agent_states"],
    ["a number for a version", { agent_states: valid(), version: 1 }, "version"],
    [
      "no text for a manager's type",
      { agent_states: withManager({ type: 1 }) },
      "agent_states.RoundRobinGroupChatManager.type",
    ],
    ["no bob", { agent_states: without("bob") }, "agent_states.bob"],
    [
      "no manager",
      { agent_states: without("RoundRobinGroupChatManager") },
      "agent_states.RoundRobinGroupChatManager",
    ],
    [
      "no message",
      { agent_states: withManager({ message_thread: [{ type: "Odd" }] }) },
      "agent_states.RoundRobinGroupChatManager.message_thread[0].source",
    ],
    [
      "an event in a buffer",
      {
        agent_states: {
          ...valid(),
          ann: { message_buffer: [{ type: "ThoughtEvent", source: "x", content: "y" }] },
        },
      },
      "agent_states.ann.message_buffer[0]",
    ],
    [
      "a wrong speaker index",
      { agent_states: withManager({ next_speaker_index: "one" }) },
      "agent_states.RoundRobinGroupChatManager.next_speaker_index",
    ],
    [
      "a state of another condition",
      { agent_states: withManager({ troupe: { condition: { terminated: true } } }) },
      "agent_states.RoundRobinGroupChatManager.troupe.condition.count",
    ],
    [
      "an agent's state that it refuses",
      { agent_states: { ...valid(), bob: { agent_state: { type: 3 } } } },
      "",
    ],
  ])("%s: the state is refused and changes nothing", async (_, state, path) => {
    const { chat } = team();
    await run(chat, { task: "go" });
    const before = chat.saveState();
    let thrown: unknown;
    try {
      chat.loadState(state);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(StateError);
    if (path !== "")
      expect((thrown as StateError).issues.map((issue) => issue.path)).toContain(path);
    expect(chat.saveState()).toEqual(before);
  });

  const OLD_ID = "3f1c2b7e-0000-4000-8000-00000000000a";
  const call = { id: "call_1", name: "clock", arguments: "{}" };
  const result = { call_id: "call_1", content: "12:34" };
  const said = (message: JsonObject): JsonObject => ({
    source: "ann",
    models_usage: null,
    ...message,
  });

  /** The states of AutoGen 0.4.0 to 0.4.8: keys with the id of the team, messages without ids, times and names of results. */
  const oldState = (extra: JsonObject, manager: JsonObject): JsonObject => ({
    type: "TeamState",
    version: "1.0.0",
    agent_states: {
      [`group_chat_manager/${OLD_ID}`]: {
        version: "1.0.0",
        message_thread: [
          said({ type: "TextMessage", source: "user", content: "What time is it?" }),
          said({ type: "ToolCallRequestEvent", content: [call] }),
          said({ type: "ToolCallExecutionEvent", content: [result] }),
          said({ type: "ToolCallSummaryMessage", content: "12:34" }),
        ],
        current_turn: 0,
        ...manager,
      },
      [`collect_output_messages/${OLD_ID}`]: {},
      [`ann/${OLD_ID}`]: {
        type: "ChatAgentContainerState",
        version: "1.0.0",
        agent_state: {
          type: "AssistantAgentState",
          version: "1.0.0",
          llm_context: {
            messages: [
              { type: "UserMessage", source: "user", content: "What time is it?" },
              { type: "AssistantMessage", source: "ann", content: [call] },
              { type: "FunctionExecutionResultMessage", content: [result] },
            ],
          },
        },
        message_buffer: [],
      },
      [`bob/${OLD_ID}`]: {
        type: "ChatAgentContainerState",
        agent_state: { type: "BaseState", version: "1.0.0" },
        message_buffer: [said({ type: "ToolCallSummaryMessage", content: "12:34" })],
      },
    },
    ...extra,
  });

  const assistant = (name: string, ...answers: string[]) => {
    const modelClient = new ReplayChatCompletionClient(answers, {
      modelInfo: {
        vision: false,
        functionCalling: true,
        jsonOutput: false,
        structuredOutput: false,
        family: "unknown",
      },
    });
    return new AssistantAgent({ name, description: name, modelClient, handoffs: ["bob"] });
  };
  const client = new ReplayChatCompletionClient([]);
  const ann = () => assistant("ann", "12:35");
  const bob = () => new TestAgent("bob");

  test.each<[string, () => Team, JsonObject, JsonObject]>([
    [
      "RoundRobinGroupChat",
      () => new RoundRobinGroupChat([ann(), bob()], { maxTurns: 1 }),
      { team_id: OLD_ID },
      { type: "RoundRobinManagerState", next_speaker_index: 0 },
    ],
    [
      "RoundRobinGroupChat, without its team_id",
      () => new RoundRobinGroupChat([ann(), bob()], { maxTurns: 1 }),
      {},
      { type: "RoundRobinManagerState", next_speaker_index: 0 },
    ],
    [
      "SelectorGroupChat",
      () =>
        new SelectorGroupChat([ann(), bob()], {
          modelClient: client,
          selectorFunc: () => "ann",
          maxTurns: 1,
        }),
      { team_id: OLD_ID },
      { type: "SelectorManagerState", previous_speaker: "bob" },
    ],
    [
      "Swarm",
      () => new Swarm([ann(), bob()], { maxTurns: 1 }),
      { team_id: OLD_ID },
      { type: "SwarmManagerState", current_speaker: "ann" },
    ],
  ])("comes from AutoGen 0.4.0 to 0.4.8 and loads: %s", async (_, make, extra, manager) => {
    const chat = make();
    chat.loadState(oldState(extra, manager));
    const { agent_states } = chat.saveState() as { agent_states: { [name: string]: JsonObject } };
    expect(agent_states["ann"]).toMatchObject({
      agent_state: {
        llm_context: {
          messages: [{}, {}, { content: [{ ...result, name: "clock" }] }],
        },
      },
    });
    expect(agent_states["bob"]).toMatchObject({
      message_buffer: [{ content: "12:34", tool_calls: [], results: [] }],
    });
    const { messages: later } = await run(chat, { task: "And now?" });
    expect(lines(later)).toEqual(["user: And now?", "ann: 12:35"]);
    expect(chat.conversation().length).toBe(6);
  });

  test("comes from AutoGen 0.4.0 to 0.4.8 and is refused with its keys if an agent is missing or the team is another", () => {
    const state = oldState({}, { type: "RoundRobinManagerState" });
    const path = `agent_states.cy/${OLD_ID}`;
    const chat = new RoundRobinGroupChat([ann(), new TestAgent("cy")]);
    expect(() => chat.loadState(state)).toThrow(
      expect.objectContaining({
        issues: [{ path, message: expect.stringContaining(`bob/${OLD_ID}`) }],
      }),
    );
    const swarm = new Swarm([ann(), bob()]);
    expect(() => swarm.loadState(state)).toThrow(
      /"SwarmManagerState", not "RoundRobinManagerState"/,
    );
  });

  test.each<[string, JsonObject, string, RegExp]>([
    ["a result", { messages: [], stop_reason: null }, "", /TaskResult.* as the task of a run$/],
    [
      "a conversation of 0.2",
      { chat_messages: { user: [{ role: "user", content: "hi" }] } },
      "chat_messages",
      /AutoGen 0\.2.*"type": "TextMessage"/,
    ],
    [
      "the messages of 0.2",
      { messages: [{ role: "user", name: "user", content: "hi" }] },
      "messages",
      /AutoGen 0\.2/,
    ],
    [
      "the state of a runtime",
      { [`ann/${OLD_ID}`]: {}, [`group_chat_manager/${OLD_ID}`]: {} },
      "",
      /AutoGen Core .*save_state\(\)$/,
    ],
    [
      "a context of 0.4.0.dev8",
      { agent_states: { [`ann/${OLD_ID}`]: { agent_state: { llm_messages: [] } } } },
      "agent_states",
      /0\.4\.0\.dev8.*"llm_context"/,
    ],
    [
      "messages of 0.4.0.dev8",
      { agent_states: { [`ann/${OLD_ID}`]: { message_buffer: [{ type: "ToolCallMessage" }] } } },
      "agent_states",
      /0\.4\.0\.dev8.*"ToolCallRequestEvent"/,
    ],
  ])(
    "has another layout and is refused with its origin and the remedy: %s",
    (_, state, path, message) => {
      const { chat } = team();
      expect(() => chat.loadState(state)).toThrow(
        expect.objectContaining({
          name: "StateError",
          issues: [{ path, message: expect.stringMatching(message) }],
        }),
      );
    },
  );
});
