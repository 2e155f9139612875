import { describe, expect, test } from "vitest";
import { MaxMessageTermination, RoundRobinGroupChat, StateError, run } from "troupe";
import type { JsonObject } from "troupe";
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

  test("loads into another team, which continues as the first would have", async () => {
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

  test("one that AutoGen saved loads: unheard messages need not stand at the end of the thread", async () => {
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

  test("pieces of text, which AutoGen keeps in its thread, are left out", async () => {
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

  test("the turn counter and the condition continue where they were", async () => {
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
  ])("%s: is refused and changes nothing", async (_, state, path) => {
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
});
