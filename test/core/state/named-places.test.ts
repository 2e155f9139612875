import { expect, test } from "vitest";
import {
  AgentTool,
  AssistantAgent,
  ListMemory,
  RoundRobinGroupChat,
  StateError,
  TextMentionTermination,
  UserProxyAgent,
} from "troupe";
import type { ChatAgent, Json, JsonObject, Team } from "troupe";
import { ScriptedChatCompletionClient } from "#testing/scripted-chat-completion-client.ts";

const modelClient = new ScriptedChatCompletionClient([]);

const human = (): ChatAgent => new UserProxyAgent({ name: "human" });

function boss(): ChatAgent {
  const expert = new AssistantAgent({ name: "expert", modelClient });
  return new AssistantAgent({
    name: "boss",
    modelClient,
    tools: [new AgentTool(expert)],
    memory: [new ListMemory()],
  });
}

function team(): Team {
  const [one, other] = [new TextMentionTermination("one"), new TextMentionTermination("other")];
  return new RoundRobinGroupChat([boss()], { terminationCondition: one.or(other) });
}

/** A copy with something else at a place. */
function changed(state: Json, [key, ...rest]: readonly string[], value: Json): Json {
  if (key === undefined) return value;
  const object = state as JsonObject;
  return { ...object, [key]: changed(object[key] ?? {}, rest, value) };
}

test.each<[() => ChatAgent | Team, string, Json, string?]>([
  [human, "type", 7],
  [boss, "type", "TeamState"],
  [team, "type", "AssistantAgentState"],
  [team, "agent_states.boss.agent_state.type", "SocietyOfMindAgentState"],
  [team, "agent_states.RoundRobinGroupChatManager.type", "SwarmManagerState"],
  [boss, "llm_context", 7],
  [boss, "llm_context", { messages: [{ type: "Nope" }] }, "llm_context.messages[0].type"],
  [boss, "troupe.parts.workbench-0.tools", []],
  [boss, "troupe.parts.workbench-0.tools.expert.llm_context", "text"],
  [boss, "troupe.parts.memory-0.memory_contents", {}],
  [team, "agent_states.boss.agent_state.llm_context", null],
  [team, "agent_states.RoundRobinGroupChatManager.troupe.condition.states", []],
])("a state that is wrong at $1 is refused with that place", (make, at, value, place = at) => {
  const subject = make();
  const before = subject.saveState();
  let thrown: unknown;
  try {
    subject.loadState(changed(before, at.split("."), value) as JsonObject);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(StateError);
  expect((thrown as StateError).issues.map(({ path }) => path)).toEqual([place]);
  expect(subject.saveState()).toEqual(before);
});
