import type { TurnSpans } from "../../../telemetry/spans/stored-spans.ts";
import { TurnTrace, type Wait } from "../../../telemetry/spans/turn-trace.ts";
import type { StoredQuestion } from "../../storage/runs/question-store.ts";
import type { Stores } from "../../storage/stores.ts";

/** The facts for a trace besides the records of the turn. Times in epoch milliseconds. */
export interface RecordedTurn {
  /** Id of the run. */
  run: string;
  /** When the run began. */
  startedAt: number;
  /** Since when a question may belong to the turn. */
  from: number;
  /** The spans of discarded steps. */
  discardedSpans: TurnSpans;
}

/** The trace of the turn in progress as its steps and questions are recorded. */
export function recordedTrace(
  { steps, questions }: Pick<Stores, "steps" | "questions">,
  { run, startedAt: since, from, discardedSpans: discarded }: RecordedTurn,
): TurnTrace {
  const trace = new TurnTrace({ since, recovering: false, discarded });
  for (const [key, step] of steps.entries()) {
    if (step.outcome !== undefined) trace.replayed(key, step, step.trace);
    else if (step.trace !== undefined) trace.attemptStarted(key, step, step.trace.start);
  }
  for (const question of questions.since(run, from)) trace.waits(waitOf(question), "");
  return trace;
}

/** A question as a trace shows it. */
export function waitOf({ question, createdAt, answer }: StoredQuestion): Wait {
  const { id, source } = question;
  return { id, source, start: createdAt, end: answer?.time.at ?? null };
}
