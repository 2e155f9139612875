import type { RunInfo } from "../../../../contract/run.ts";
import type { Json, JsonObject } from "../../../../core/json.ts";

/** The origin of a part, in the part's metadata. */
export interface PartMetadata {
  troupe: {
    /** The agent. */
    source: string;
    /** The message of the run that the part shows. */
    message: string;
    /** The text counts for nothing: it comes again, or its turn was given up. */
    void?: true;
    /** The text turned out to be what the agent thought before it called tools. */
    thought?: true;
  };
}

/** The fields of a tool call in its chunks. */
interface ToolCall {
  toolCallId: string;
  toolName: string;
  input: Json;
  /** Clients know no types of a team's tools. */
  dynamic: true;
  /** True if the client has nothing to do: neither to make the call nor to send a result. */
  providerExecuted: boolean;
  providerMetadata?: PartMetadata;
  toolMetadata?: JsonObject;
}

/** A chunk of a UI message stream (`UIMessageChunk` of the AI SDK): those that are sent. */
export type Chunk =
  | { type: "start"; messageId?: string; messageMetadata?: JsonObject }
  | { type: "start-step" | "finish-step" }
  | { type: "text-start" | "reasoning-start"; id: string; providerMetadata: PartMetadata }
  | { type: "text-end" | "reasoning-end"; id: string; providerMetadata?: PartMetadata }
  | { type: "text-delta" | "reasoning-delta"; id: string; delta: string }
  | ({ type: "tool-input-available" } & ToolCall)
  | {
      type: "tool-approval-request";
      approvalId: string;
      toolCallId: string;
      /** Only version 7 shows it. */
      reason: string;
      approvalDescriptor: JsonObject;
    }
  | {
      type: "tool-output-available";
      toolCallId: string;
      output: Json;
      dynamic: true;
      providerExecuted: true;
    }
  | {
      type: "tool-output-error";
      toolCallId: string;
      errorText: string;
      dynamic: true;
      providerExecuted: true;
    }
  | { type: "tool-output-denied"; toolCallId: string }
  | { type: "file"; url: string; mediaType: string; providerMetadata: PartMetadata }
  | { type: `data-${string}`; id?: string; data: Json; transient?: true }
  | { type: "message-metadata"; messageMetadata: JsonObject }
  | { type: "error"; errorText: string }
  | { type: "abort"; reason: string }
  | {
      type: "finish";
      finishReason: "stop" | "tool-calls" | "error" | "other";
      messageMetadata?: JsonObject;
    };

/** The chunk as a server-sent event. */
export function written(chunk: Chunk): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

/** The last event of a stream. */
export const DONE = "data: [DONE]\n\n";

/** The metadata of a UI message while its run is active. */
export function runMetadata({
  id,
  team_id,
  status,
  queue_position,
  retry_of,
}: RunInfo): JsonObject {
  return { run: { id, team_id, status, queue_position, retry_of } };
}

/** The metadata at the end of the run. @param usage the tokens of the run so far, where they are known */
export function endMetadata(
  { id, team_id, status, stop_reason }: Pick<RunInfo, "id" | "team_id" | "status" | "stop_reason">,
  usage?: RunInfo["usage"],
): JsonObject {
  const { prompt_tokens: inputTokens = 0, completion_tokens: outputTokens = 0 } = usage ?? {};
  return {
    run: { id, team_id, status, stop_reason },
    ...(usage && {
      usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
    }),
  };
}
