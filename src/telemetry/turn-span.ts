import type { TokenUsage } from "../core/models/request-usage.ts";

/** An attempt at a step that failed. Times are epoch milliseconds. */
export interface FailedAttempt {
  start: number;
  end: number;
  error: string;
}

/**
 * What a turn's trace keeps of an agent, a step or a wait; spans are made of it when they are shown or sent. Times are epoch
 * milliseconds.
 */
export interface TurnSpan {
  /** `tool`: also one that runs agents. `effect`: a step that calls neither a model nor a tool. */
  kind: "agent" | "model" | "tool" | "effect" | "wait";
  /** Of the scope or step, below the turn; of a wait the scope's, and the beginning of the question's id. */
  path: string;
  start: number;
  /** Null while it lasts. */
  end: number | null;
  /** Of the agent, the tool or the model; of a wait: who asks. */
  name: string | null;
  provider: string | null;
  /** Attempts at the step, those that failed included. */
  attempts: number;
  failed: readonly FailedAttempt[];
  tokens: TokenUsage | null;
  error: string | null;
  /** What the client left out of the request to a model. */
  note?: string;
  recovered: boolean;
  /** Whether its recorded result was given up, so that the step ran again. */
  discarded: boolean;
}

/** The spans of a turn, and how many were left out for their number. */
export interface TurnSpans {
  spans: readonly TurnSpan[];
  dropped: number;
}

/** Of one turn; a turn may have any number of steps. */
export const MOST_SPANS = 100;

/** Whether `path` is inside the scope `scope`; everything is inside of the turn's own scope. */
export function isInside(path: string, scope: string): boolean {
  return scope === "" || path.startsWith(`${scope}/`);
}
