import type { Json } from "../json.ts";
import type { Answer, Question, StepCache, StepKind, StepPolicy } from "./turn-context.ts";

/** A moment of a run: epoch milliseconds, and the milliseconds the run has been running (no waits, no pauses). */
export interface Moment {
  at: number;
  ran: number;
}

/** How a step ended, as recorded. */
export type StepOutcome = ({ ok: Json } | { error: StepFailure }) & { time: Moment };

/** How a step failed for good. When the turn runs again it fails in the same way, without running. */
export interface StepFailure {
  /** Of our errors; `run_failed` for others, which have none. */
  code: string;
  message: string;
  /** The error's name; `Error` for what was no error. */
  name: string;
}

/** What a journal knows of a step. Without an outcome it had begun when the host died. */
export interface StepRecord {
  kind: StepKind;
  policy: StepPolicy;
  attempt: number;
  fingerprint: string;
  outcome?: StepOutcome;
}

/** How one of several branches failed, and the path of its scope. */
export interface BranchFailure {
  scope: string;
  error: unknown;
}

/**
 * The seam between {@link TurnScope} and where a turn runs: memory, or a Durable Object that journals. All calls
 * but `backoff` and `answer` are synchronous, so that what they write is durable with what happens next.
 */
export interface TurnHost {
  /** Prefix of all ids and keys of this turn: unique per run and turn. */
  readonly turnId: string;
  /** When the turn starts, the same when it runs again. */
  readonly started: Moment;
  readonly signal: AbortSignal;
  readonly stopRequested: boolean;
  readonly cache?: StepCache;
  /** {@link StepAttempt.session} */
  readonly session?: string;
  clock(): Moment;
  /** Throws a {@link TurnSignal} when nothing new may start. */
  gate(): void;
  recall(key: string): StepRecord | undefined;
  /** Before an effect. Hosts write it down for policies other than `retry`. */
  begun(key: string, step: Omit<StepRecord, "outcome">): void;
  ended(key: string, step: StepRecord & { outcome: StepOutcome }): void;
  /** The step failed for good, now or as recorded, and `error` is what is thrown. */
  threw(key: string, error: unknown): void;
  /** Of branches side by side, these failed, the first one first: its error is what is thrown. */
  failed(branches: readonly BranchFailure[]): void;
  /**
   * The recorded request is not the one asked for now: forgets the steps from `key` on in this scope, retracts
   * what the scope had emitted. @throws code_changed when one of them must not run again
   */
  invalidate(scope: string, key: string): void;
  /** Waits before the next attempt, or throws: `error` when there is none, a signal when the wait is long. */
  backoff(key: string, attempt: number, error: unknown): Promise<void>;
  /** The text shown of this message is void: its call is made again. */
  discard(messageId: string): void;
  /** {@link StepAttempt.flush} */
  flush?(): void;
  /** The answer, once there is one; hosts that can be unloaded throw `suspend` instead of waiting. */
  answer(question: Question): Promise<{ answer: Answer; time: Moment }>;
}
