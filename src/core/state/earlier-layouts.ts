import { StateError } from "../errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";

/** The name that managers of all teams have in a state of AutoGen before 0.4.9. */
const MANAGER = "group_chat_manager";

/** The keys of a team's `agent_states`: names since AutoGen 0.4.9; before, a name and the id of the team. */
export interface AgentKeys {
  of(participant: string): string;
  manager: string;
}

/** @param teamId the state's `team_id`, which AutoGen had before 0.4.9 */
export function agentKeys(
  agentStates: JsonObject,
  teamId: string | undefined,
  managerName: string,
): AgentKeys {
  const manager = Object.keys(agentStates).find((key) => key.startsWith(`${MANAGER}/`));
  const id = manager?.slice(MANAGER.length + 1) ?? teamId;
  if (!id) return { of: (participant) => participant, manager: managerName };
  return { of: (participant) => `${participant}/${id}`, manager: `${MANAGER}/${id}` };
}

/**
 * Fills in what messages of AutoGen before 0.4.9 lack: results of calls have no name, which is that of the call, and summaries
 * of calls have neither the calls nor the results.
 */
export function withEarlierMessages<T extends Json>(state: T): T {
  const names = new Map<string, string>();
  visit(state, ({ id, name, arguments: args }) => {
    if (typeof id === "string" && typeof name === "string" && args !== undefined)
      names.set(id, name);
  });
  let isEarlier = false;
  visit(state, (value) => {
    isEarlier ||= filledIn(value, names) !== undefined;
  });
  if (!isEarlier) return state;
  return JSON.parse(JSON.stringify(state), (_key, value: Json) =>
    isJsonObject(value) ? (filledIn(value, names) ?? value) : value,
  ) as T;
}

/** A message with what it lacks; undefined for everything else. */
function filledIn(message: JsonObject, names: ReadonlyMap<string, string>): JsonObject | undefined {
  switch (message["type"]) {
    case "FunctionExecutionResultMessage":
    case "ToolCallExecutionEvent": {
      const content = namedResults(message["content"], names);
      return content && { ...message, content };
    }
    case "ToolCallSummaryMessage": {
      const { tool_calls = [], results = [] } = message;
      const named = namedResults(results, names);
      const isComplete = "tool_calls" in message && "results" in message && named === undefined;
      return isComplete ? undefined : { ...message, tool_calls, results: named ?? results };
    }
    default:
      return undefined;
  }
}

function namedResults(
  results: Json | undefined,
  names: ReadonlyMap<string, string>,
): Json[] | undefined {
  if (!Array.isArray(results)) return undefined;
  let isNamed = true;
  const named = results.map((result) => {
    if (!isJsonObject(result) || result["name"] !== undefined) return result;
    const { call_id } = result;
    if (typeof call_id !== "string") return result;
    isNamed = false;
    return { ...result, name: names.get(call_id) ?? "" };
  });
  return isNamed ? undefined : named;
}

function visit(value: Json, see: (object: JsonObject) => void): void {
  if (typeof value !== "object" || value === null) return;
  if (isJsonObject(value)) see(value);
  for (const inner of Object.values(value)) visit(inner, see);
}

/** Messages of AutoGen before 0.4.0.dev11, and what they are called since. */
const RENAMED: { readonly [type: string]: string } = {
  ToolCallMessage: "ToolCallRequestEvent",
  ToolCallResultMessage: "ToolCallExecutionEvent",
};

/**
 * Refuses what is stored by AutoGen, but is not the state of a team since 0.4.0.
 *
 * @throws StateError that names the version or the function it comes from, and what to do
 */
export function refuseOtherLayouts(state: JsonObject): void {
  const [path, message] = otherLayout(state) ?? [];
  if (path === undefined || message === undefined) return;
  throw new StateError(`not the state of a team: ${path === "" ? "it" : path} ${message}`, {
    issues: [{ path, message }],
  });
}

function otherLayout(state: JsonObject): [path: string, message: string] | undefined {
  const keys = Object.keys(state);
  const { agent_states, messages } = state;
  if (isJsonObject(agent_states)) return earlierParts(agent_states);
  if ("stop_reason" in state && Array.isArray(messages)) {
    return [
      "",
      "is the result of a run (TaskResult). Save a state with save_state(), or give the messages of the result as the task of a run",
    ];
  }
  const hasRoles =
    Array.isArray(messages) && messages.some((one) => isJsonObject(one) && "role" in one);
  const key = ["chat_messages", "oai_messages", "chat_history"].find((one) => one in state);
  if (key !== undefined || hasRoles) {
    return [
      key ?? "messages",
      'is a conversation of AutoGen 0.2, which has no state of teams. Give its messages as the task of a run, each as { "type": "TextMessage", "source": name, "content": text }',
    ];
  }
  if (keys.length > 0 && keys.every((one) => one.includes("/") && isJsonObject(state[one]))) {
    return [
      "",
      "is the state of a runtime of AutoGen Core (SingleThreadedAgentRuntime.save_state). Save the state of the team with its own save_state()",
    ];
  }
  return undefined;
}

function earlierParts(agentStates: JsonObject): [path: string, message: string] | undefined {
  let found: [string, string] | undefined;
  visit(agentStates, (value) => {
    const { type } = value;
    const renamed = typeof type === "string" && Object.hasOwn(RENAMED, type) ? type : undefined;
    if (renamed !== undefined) {
      found ??= [
        "agent_states",
        `has a message of the type "${renamed}" of AutoGen 0.4.0.dev8 to dev10. Write "${RENAMED[renamed]}" in its place`,
      ];
    } else if (Array.isArray(value["llm_messages"]) && value["llm_context"] === undefined) {
      found ??= [
        "agent_states",
        'has "llm_messages", the layout of AutoGen 0.4.0.dev8 to dev10. Move the list to "llm_context": { "messages": [...] }',
      ];
    }
  });
  return found;
}
