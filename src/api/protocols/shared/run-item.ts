import type { Problem } from "../../../contract/problem.ts";
import type { RunInfo } from "../../../contract/run.ts";
import type { RunResultFrame } from "../../../contract/stream/stream-frame.ts";
import type { PiecePlace } from "../../../contract/stream/text-pieces.ts";
import type { AgentEvent, ChatMessage } from "../../../core/messages/message.ts";
import type { FunctionCall, FunctionExecutionResult } from "../../../core/models/llm-messages.ts";

/** The speaker of a text: an agent, or a human through an agent that asked for input or as the giver of the task. */
export type Role = "agent" | "human";

/** A text of a message, whole or in pieces. */
export interface TextPlace {
  /** The id of the message, where it is known; otherwise an id of the text alone. */
  messageId: string;
  /** 1, or more where a text of this message has started before: the model was called again, or its turn was given up. */
  attempt: number;
  source: string;
}

/**
 * The items of a run, in an order that every protocol can express: a text begins, grows and ends before its message
 * comes; every text that has started ends. A chat message that did not stream comes with its text, too.
 */
export type RunItem =
  /** The run as it is: first of all, and whenever it changes. */
  | { type: "run"; run: RunInfo }
  /** `place`: of the text's first piece, if it was streamed. */
  | ({ type: "text_start"; role: Role; place?: PiecePlace } & TextPlace)
  /** Never empty. `place`: of a piece that was streamed, now or earlier. */
  | ({ type: "text_delta"; delta: string; place?: PiecePlace } & TextPlace)
  /**
   * `content`: the whole text. `void`: the log has no message with this text: the model is called again, the turn was given
   * up, or it turned out to be a thought, which then comes with its id.
   */
  | ({ type: "text_end"; content: string; void: boolean } & TextPlace)
  | { type: "thought"; id: string; source: string; content: string }
  | { type: "tool_calls"; id: string; source: string; calls: readonly FunctionCall[] }
  | {
      type: "tool_results";
      id: string;
      source: string;
      results: readonly FunctionExecutionResult[];
    }
  /** A whole chat message, after the end of its text. */
  | { type: "message"; message: ChatMessage; role: Role }
  /** Any other event: memories, selections of speakers, code, requests for input, and events of later versions. */
  | { type: "event"; event: AgentEvent }
  /** These messages are void: their turn was given up. */
  | { type: "retract"; messageIds: readonly string[] }
  /** All recorded items have been sent; what follows happens now. */
  | { type: "live" }
  /** The run waits for a human or for the client; `run.requests` says for what. No text is in progress. */
  | { type: "waiting"; run: RunInfo }
  /** The run is paused, perhaps in the middle of a turn. No text is in progress. */
  | { type: "paused" }
  /** The last item. */
  | { type: "completed"; result: RunResultFrame; run: RunInfo | undefined }
  | { type: "cancelled"; run: RunInfo }
  | { type: "failed"; problem: Problem };

const ENDINGS: ReadonlySet<RunItem["type"]> = new Set<RunItem["type"]>([
  "retract",
  "paused",
  "waiting",
  "completed",
  "cancelled",
  "failed",
]);

/** True if no message of a text before this item follows it. */
export function endsTexts({ type }: RunItem): boolean {
  return ENDINGS.has(type);
}
