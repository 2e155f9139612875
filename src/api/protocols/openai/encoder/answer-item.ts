import type { Problem } from "../../../../contract/problem.ts";
import type { HumanRequest, RunInfo } from "../../../../contract/run.ts";
import type { PiecePlace } from "../../../../contract/stream/text-pieces.ts";
import type { UserPart } from "../../../../core/models/llm-messages.ts";
import type { TokenUsage } from "../../../../core/models/request-usage.ts";
import type { RunItem } from "../../shared/run-item.ts";

/** `answer`: what the client asked for. `reasoning`: what led to it. */
export type TextRole = "answer" | "reasoning";

export type End =
  | { type: "completed"; usage: TokenUsage; stopReason: string | null }
  /** The run continues with answers to these questions. */
  | { type: "waiting"; requests: readonly HumanRequest[] }
  | { type: "failed"; problem: Problem }
  /** The shown text differs from the answer, and cannot be taken back. */
  | { type: "changed" }
  | { type: "cancelled" }
  | { type: "paused" }
  /** The request asked for the present state only, and the run is still active. */
  | { type: "unfinished" };

/** The items of a run, for the encoders of both of OpenAI's protocols. */
export type AnswerItem =
  /** The run as it is: first of all, and whenever it changes. */
  | { type: "run"; run: RunInfo }
  /** `place`: of the text's first piece, if it was streamed. */
  | {
      type: "text_start";
      id: string;
      role: TextRole;
      source: string;
      place?: PiecePlace;
      /** True for a question to a human. */
      asks?: true;
    }
  | { type: "text_delta"; id: string; role: TextRole; delta: string; place?: PiecePlace }
  /** `text`: the whole text; undefined for one that is void. `final`: it is the last one of the run, or asks for an answer. */
  | {
      type: "text_end";
      id: string;
      role: TextRole;
      source: string;
      text: string | undefined;
      final: boolean;
    }
  /** Shown only with `show: "all"`. */
  | { type: "other"; item: RunItem }
  /** The last item. */
  | { type: "end"; end: End; run: RunInfo | undefined; attached: readonly Attached[] };

/** An image or a file of an answer. */
export type Attached = Exclude<UserPart, string>;

/** The place at which a piece was streamed, if it was. */
export function at(place: PiecePlace | undefined): { place?: PiecePlace } {
  return place === undefined ? {} : { place };
}

/** A text of the reasoning, whole. */
export function reasoning(id: string, source: string, text: string): AnswerItem[] {
  return [
    { type: "text_start", id, role: "reasoning", source },
    ...(text === ""
      ? []
      : [{ type: "text_delta" as const, id, role: "reasoning" as const, delta: text }]),
    { type: "text_end", id, role: "reasoning", source, text, final: false },
  ];
}
