import type { RunInfo } from "../../../../contract/run.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../../core/json.ts";
import type { AgUiOptions } from "./options.ts";

/** The version of AG-UI that this server speaks. */
const PROTOCOL_VERSION = "1.0";

/** The key of `metadata` and `state` under which Troupe says what the protocol has no field for. */
export const OWN = "troupe";

/** The type of the activity message that shows the steps under way. */
export const ACTIVITY_TYPE = `${OWN}.steps` as const;

interface Metadata {
  metadata?: { [OWN]: object };
}

/** Tokens of one model's calls. */
export interface TokenUsage {
  model: string;
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  /** Parts of these, where the model's server says how many. */
  reasoningTokens?: number;
  cachedInputTokens?: number;
  cacheWriteInputTokens?: number;
}

/** A question of a run that has stopped to ask. */
export interface Interrupt extends Metadata {
  id: string;
  reason: "tool_call" | "confirmation" | "input_required";
  message?: string;
  toolCallId?: string;
  responseSchema: object;
  expiresAt?: string;
}

export type Outcome =
  | { type: "success"; pendingToolCallIds?: string[] }
  | { type: "interrupt"; interrupts: Interrupt[] }
  | { type: "cancelled" };

/** Why the turn of an agent is over for this stream. */
export type SubagentOutcome =
  | { type: "success" }
  | { type: "suspended"; interruptIds?: readonly string[] };

interface ToolCall extends Metadata {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** A message of a conversation, as clients keep it. */
export type ThreadMessage = Metadata & { id: string } & (
    | { role: "user"; name?: string; content: unknown }
    | { role: "assistant"; name?: string; content?: string; toolCalls?: ToolCall[] }
    | { role: "tool"; toolCallId: string; content: string }
    | { role: "reasoning"; content: string }
  );

/** An operation of JSON Patch (RFC 6902). */
export type StateChange = { op: "add"; path: string; value: Json } | { op: "remove"; path: string };

/** The events of AG-UI 1.0 that this server sends. Fields without a value are left out. */
export type AgUiEvent = Metadata &
  (
    | {
        type: "RUN_STARTED";
        threadId: string;
        runId: string;
        parentRunId?: string;
        protocolVersion: string;
      }
    | {
        type: "RUN_FINISHED";
        threadId: string;
        runId: string;
        outcome: Outcome;
        result?: { stop_reason: string | null };
        usage?: TokenUsage[];
      }
    | { type: "RUN_ERROR"; message: string; code: string; usage?: TokenUsage[] }
    | { type: "STEP_STARTED" | "STEP_FINISHED"; stepName: string }
    | {
        type: "SUBAGENT_STARTED";
        subagentRunId: string;
        name: string;
        parentSubagentRunId?: string;
      }
    | { type: "SUBAGENT_FINISHED"; subagentRunId: string; outcome: SubagentOutcome }
    | { type: "SUBAGENT_ERROR"; subagentRunId: string; message: string; code: string }
    | {
        type: "ACTIVITY_SNAPSHOT";
        messageId: string;
        activityType: typeof ACTIVITY_TYPE;
        content: JsonObject;
      }
    | {
        type: "ACTIVITY_DELTA";
        messageId: string;
        activityType: typeof ACTIVITY_TYPE;
        patch: StateChange[];
      }
    | {
        type: "TEXT_MESSAGE_START";
        messageId: string;
        role: "assistant" | "user";
        name?: string;
      }
    | { type: "TEXT_MESSAGE_CONTENT"; messageId: string; delta: string }
    | { type: "TEXT_MESSAGE_END"; messageId: string }
    | { type: "REASONING_START" | "REASONING_END" | "REASONING_MESSAGE_END"; messageId: string }
    | { type: "REASONING_MESSAGE_START"; messageId: string; role: "reasoning" }
    | { type: "REASONING_MESSAGE_CONTENT"; messageId: string; delta: string }
    | {
        type: "TOOL_CALL_START";
        toolCallId: string;
        toolCallName: string;
        parentMessageId: string;
      }
    | { type: "TOOL_CALL_ARGS"; toolCallId: string; delta: string }
    | { type: "TOOL_CALL_END"; toolCallId: string }
    | {
        type: "TOOL_CALL_RESULT";
        messageId: string;
        toolCallId: string;
        content: string;
        role: "tool";
      }
    | { type: "STATE_SNAPSHOT"; snapshot: JsonObject }
    | { type: "STATE_DELTA"; delta: StateChange[] }
    | { type: "MESSAGES_SNAPSHOT"; messages: unknown[] }
    | { type: "CUSTOM"; name: `${typeof OWN}.${string}`; value: unknown }
    | { type: "RAW"; source: typeof OWN; event: unknown }
  );

/** The first event of a run. @param run undefined where none is asked for */
export function runStarted(
  {
    threadId,
    runId,
    parentRunId,
    dropped,
  }: Pick<AgUiOptions, "threadId" | "runId" | "parentRunId" | "dropped">,
  run: RunInfo | undefined,
): AgUiEvent {
  const about = {
    ...(run !== undefined && { team_id: run.team_id, run_id: run.id }),
    ...(dropped.length > 0 && { dropped }),
  };
  return {
    type: "RUN_STARTED",
    threadId,
    runId,
    ...(parentRunId !== undefined && { parentRunId }),
    protocolVersion: PROTOCOL_VERSION,
    metadata: { [OWN]: about },
  };
}

/** Server-sent events, as the client knows them. JSON has no line breaks. */
export function sse(
  events: readonly AgUiEvent[],
  { reasoning }: Pick<AgUiOptions, "reasoning">,
): string {
  const visible = reasoning ? events : events.flatMap(withoutReasoning);
  return visible.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

function withoutReasoning(event: AgUiEvent): AgUiEvent[] {
  if (event.type.startsWith("REASONING_")) return [];
  if (event.type !== "MESSAGES_SNAPSHOT") return [event];
  const messages = event.messages.filter(
    (message) => !isJsonObject(message) || message.role !== "reasoning",
  );
  return [{ ...event, messages }];
}
