import { TroupeError } from "../../core/errors.ts";
import type { Moment } from "../../core/turn/turn-host.ts";
import type { StoredQuestion } from "../storage/runs/question-store.ts";
import type { RunRecord } from "../storage/runs/run-record.ts";

/** AutoGen's text for a run that was asked to stop after its turn. */
const STOP_REASON = "External termination requested";

/** An object without requests is evicted after 70 to 140 s; well before that the alarm shows that it is in use. */
const HEARTBEAT_MS = 12_000;

/**
 * The state of the turn in progress. `none`: the last one was committed. `running`: an execution is running it.
 * `interrupted`: it was just accepted, answered or resumed, or the object was restarted in the middle of it; it runs
 * before a requested stop takes effect. `suspended`: it waits for an answer or for the end of a backoff.
 */
export type TurnState = "none" | "running" | "interrupted" | "suspended";

/** The facts that {@link nextAction} depends on besides the run's record. */
export interface RunFacts {
  turn: TurnState;
  /** True if a question was answered since the turn was suspended. */
  answered: boolean;
  openQuestions: readonly StoredQuestion[];
  /** When the first of the turn's backoffs ends, epoch milliseconds. Only a suspended turn has any. */
  backoffs: { readonly wakeAt: number | null };
  now: Moment;
}

export type NextAction =
  /** Run the turn in progress, from its beginning. `wakes`: the run was idle. */
  | { do: "turn"; wakes: boolean }
  /** A pause is over: run the agents' resume hooks. */
  | { do: "resume"; wakes: boolean }
  /** Run the agents' pause hooks, then pause the run. */
  | { do: "pause" }
  /** End the run between two turns. */
  | { do: "complete"; stopReason: string }
  | { do: "fail"; error: TroupeError }
  /** Answer questions whose time is up by their default answers. */
  | { do: "answer_by_default"; questions: readonly StoredQuestion[] }
  /** A client or the alarm has to act first. */
  | ({ do: "wait" } & Idle);

/** The status of a run while it waits, and when it continues by itself, epoch milliseconds. */
export interface Idle {
  status: "waiting" | "paused" | "running";
  wakeAt: number | null;
}

type State = Pick<
  RunRecord,
  | "status"
  | "stop_requested"
  | "pause_requested"
  | "resuming"
  | "timeout_seconds"
  | "ran_before"
  | "wake_at"
>;

/** True while the run waits for a human or a backoff, or is paused: no execution runs it. */
export function isIdle({ status, wake_at }: Pick<RunRecord, "status" | "wake_at">): boolean {
  return status !== "running" || wake_at !== null;
}

/** Decides what an active run needs next: a pure function of its record and a few facts. */
export function nextAction(record: State, facts: RunFacts): NextAction {
  const { turn, answered, openQuestions, backoffs, now } = facts;
  const left = timeLeft(record, now.ran);
  if (record.status === "running" && left !== null && left <= 0) {
    return { do: "fail", error: timeLimitError(record) };
  }
  if (record.stop_requested !== null && (turn === "none" || turn === "suspended")) {
    return { do: "complete", stopReason: STOP_REASON };
  }
  // A pause delays default answers, too.
  if (record.status === "paused") return { do: "wait", status: "paused", wakeAt: record.wake_at };
  const expired = openQuestions.filter(
    ({ expiresAt }) => expiresAt !== null && expiresAt <= now.at,
  );
  if (expired.length > 0) return { do: "answer_by_default", questions: expired };
  if (turn === "running") return { do: "wait", status: "running", wakeAt: null };
  if (record.pause_requested) return { do: "pause" };
  if (turn === "suspended" && !answered) {
    const waiting = openQuestions.length > 0;
    const { wakeAt } = backoffs;
    if (!waiting && wakeAt === null) {
      const error = new TroupeError("internal", "a turn was suspended and waits for nothing");
      return { do: "fail", error };
    }
    if (wakeAt === null || wakeAt > now.at) {
      return { do: "wait", status: waiting ? "waiting" : "running", wakeAt };
    }
  }
  return { do: record.resuming ? "resume" : "turn", wakes: isIdle(record) };
}

/**
 * When the alarm is due, epoch milliseconds: the earliest of heartbeat and time limit while the run is running, end of a
 * backoff (instead of the heartbeat) and expiry of a question. Null when only a client can change anything.
 */
export function alarmTime(
  record: RunRecord,
  openQuestions: readonly StoredQuestion[],
  now: Moment,
): number | null {
  const { status, wake_at } = record;
  if (status === "paused") return null;
  const times: number[] = [];
  if (wake_at !== null) times.push(wake_at);
  else if (status === "running") times.push(now.at + HEARTBEAT_MS);
  if (status === "running") {
    const left = timeLeft(record, now.ran);
    if (left !== null) times.push(now.at + Math.max(0, left));
  }
  for (const { expiresAt } of openQuestions) if (expiresAt !== null) times.push(expiresAt);
  return times.length === 0 ? null : Math.min(...times);
}

/**
 * Milliseconds until the run's time limit; null without one.
 *
 * @param ran milliseconds the run has been running
 */
function timeLeft(
  { timeout_seconds, ran_before }: Pick<RunRecord, "timeout_seconds" | "ran_before">,
  ran: number,
): number | null {
  return timeout_seconds === null ? null : timeout_seconds * 1000 - (ran - ran_before);
}

function timeLimitError({ timeout_seconds }: Pick<RunRecord, "timeout_seconds">): TroupeError {
  return new TroupeError("run_timeout", `the run took longer than ${timeout_seconds} seconds`);
}
