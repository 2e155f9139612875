import * as z from "zod";
import { type Issue, MessageError, StateError } from "../errors.ts";
import { issuesOf, listIssues, pathOf } from "../issues.ts";
import { jsonObjectSchema } from "../json-object.ts";
import type { Json, JsonObject } from "../json.ts";
import type { MessageOrigin } from "../messages/create.ts";
import { isChatMessage } from "../messages/views.ts";
import type { ChatMessage, Message } from "../messages/message.ts";
import { loadMessage } from "../messages/message-factory.ts";
import { agentKeys, refuseOtherLayouts, withEarlierMessages } from "../state/earlier-layouts.ts";
import { baseStateSchema, stateSchemaOf } from "../state/load-state.ts";

const teamStateSchema = stateSchemaOf("TeamState").extend({
  agent_states: z.record(z.string(), jsonObjectSchema).default({}),
  team_id: z.string().nullish(),
});
const containerStateSchema = stateSchemaOf("ChatAgentContainerState").extend({
  agent_state: jsonObjectSchema.default({}),
  message_buffer: z.array(z.json()).default([]),
});
const managerStateSchema = baseStateSchema.extend({
  message_thread: z.array(z.json()).default([]),
  current_turn: z.number().int().nonnegative().default(0),
  troupe: z.object({ condition: z.json().optional() }).optional(),
});

/** A group chat's saved state, parsed and checked, except for the states of agents and manager. */
export interface GroupChatState {
  agents: ReadonlyMap<string, JsonObject>;
  unheard: ReadonlyMap<string, readonly ChatMessage[]>;
  thread: Message[];
  turn: number;
  /** Undefined in a state that AutoGen saved, which does not include it. */
  condition: Json | undefined;
  manager: JsonObject;
}

/** Writes a state the way AutoGen does (`TeamState`); the condition's goes under `troupe`. */
export function writeGroupChatState(state: GroupChatState, managerName: string): JsonObject {
  const agentStates: JsonObject = {};
  for (const [name, agentState] of state.agents) {
    agentStates[name] = {
      type: "ChatAgentContainerState",
      version: "1.0.0",
      agent_state: agentState,
      message_buffer: [...(state.unheard.get(name) ?? [])] as Json,
    };
  }
  const { troupe, ...own } = state.manager;
  const extra = { ...(troupe as JsonObject | undefined) };
  if (state.condition !== undefined) extra.condition = state.condition;
  agentStates[managerName] = {
    ...own,
    message_thread: state.thread as Json,
    current_turn: state.turn,
    ...(Object.keys(extra).length > 0 && { troupe: extra }),
  };
  return { type: "TeamState", version: "1.0.0", agent_states: agentStates };
}

/**
 * Reads the states of AutoGen since 0.4.0.
 *
 * @throws StateError naming each missing or invalid key
 */
export function readGroupChatState(
  state: JsonObject,
  names: readonly string[],
  managerName: string,
): GroupChatState {
  refuseOtherLayouts(state);
  const { agent_states, team_id } = parse(teamStateSchema, withEarlierMessages(state), "");
  const keys = agentKeys(agent_states, team_id ?? undefined, managerName);
  const stateOf = (key: string): JsonObject => {
    const found = Object.hasOwn(agent_states, key) ? agent_states[key] : undefined;
    if (found) return found;
    const states = Object.keys(agent_states).join(", ");
    const message = `missing; there are states for: ${states === "" ? "none" : states}`;
    throw invalid([{ path: pathOf(["agent_states", key]), message }]);
  };
  const agents = new Map<string, JsonObject>();
  const unheard = new Map<string, ChatMessage[]>();
  for (const name of names) {
    const key = keys.of(name);
    const path = pathOf(["agent_states", key]);
    const container = parse(containerStateSchema, stateOf(key), path);
    agents.set(name, container.agent_state);
    const messages = readMessages(container.message_buffer, `${path}.message_buffer`);
    const event = messages.findIndex((message) => !isChatMessage(message));
    if (event >= 0) {
      const contentPath = `${path}.message_buffer[${event}]`;
      throw invalid([{ path: contentPath, message: "must be a chat message, not an event" }]);
    }
    unheard.set(name, messages as ChatMessage[]);
  }
  const manager = stateOf(keys.manager);
  const path = pathOf(["agent_states", keys.manager]);
  const { message_thread, current_turn, troupe } = parse(managerStateSchema, manager, path);
  return {
    agents,
    unheard,
    // AutoGen keeps chunks of an inner agent's text; here they are not part of a thread.
    thread: readMessages(message_thread, `${path}.message_thread`).filter(
      ({ type }) => type !== "ModelClientStreamingChunkEvent",
    ),
    turn: current_turn,
    condition: troupe?.condition,
    manager,
  };
}

/** The origin of ids and times for messages of old states without them; they need not be reproducible. */
const NEW: MessageOrigin = {
  id: () => crypto.randomUUID(),
  now: () => new Date().toISOString(),
};

function readMessages(values: readonly Json[], path: string): Message[] {
  return values.map((value, index) => {
    try {
      return loadMessage(value, NEW, `${path}[${index}]`);
    } catch (error) {
      if (!(error instanceof MessageError)) throw error;
      throw invalid(error.issues, error);
    }
  });
}

function parse<T>(schema: z.ZodType<T>, value: unknown, path: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalid(issuesOf(result.error, path));
}

function invalid(issues: Issue[], cause?: unknown): StateError {
  return new StateError(`the state does not fit this team: ${listIssues(issues)}`, {
    issues,
    cause,
  });
}
