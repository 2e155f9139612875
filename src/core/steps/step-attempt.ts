import type { TaskFile } from "../messages/task-files.ts";
import type { RemoteWork } from "./remote-work.ts";
import type { ServerLogins } from "./server-logins.ts";

/**
 * The treatment of a step that had started and has no result, after a restart. `retry`: runs it again under the same key;
 * `never`: its result is an error that says the outcome is unknown; `ask`: a human decides.
 */
export type StepPolicy = "retry" | "never" | "ask";

/**
 * The kind of a step: a model call, a tool call, or any other effect. When a turn fails, a retry repeats its last
 * `model` step. The result of a `model` step counts in the run's usage if it has `usage`, as a `CreateResult` has.
 */
export type StepKind = "model" | "tool" | "effect";

/** The callee of a step, for traces. */
export interface StepSubject {
  /** Name of the model, the tool or another callee. */
  name: string;
  /** The provider of the model, as OpenTelemetry names it (`gen_ai.provider.name`): `openai`. */
  provider?: string;
  /** The model's id of the tool call. */
  call?: string;
}

/** Headers that connect a request with the trace it belongs to (W3C Trace Context). */
export interface TraceContext {
  traceparent: string;
  tracestate?: string;
}

/** A host's cache of results that can be computed again: texts by key. */
export interface StepCache {
  get(key: string): string | undefined;
  /** Removes the oldest entries above `maxEntries`. */
  set(key: string, value: string, maxEntries: number): void;
}

/** Passed to a step's effect. */
export interface StepAttempt {
  /** 1 for the first try. */
  attempt: number;
  /** Milliseconds since the first attempt failed; missing for the first one. */
  failingMs?: number;
  /** The path of the step's scope in its turn: the same for all calls of an agent. */
  scope?: string;
  /** Stable over attempts and restarts; send it to services that can deduplicate. */
  idempotencyKey: string;
  /** Aborts when the run is cancelled. */
  signal: AbortSignal;
  /**
   * The team's name at external services (a sandbox session) over its whole life: unguessable and unique. Undefined on
   * hosts without one.
   */
  session?: string;
  /** {@link TurnContext.files}; undefined on hosts whose runs have no task. */
  readonly files?: readonly TaskFile[];
  /**
   * Sends the pieces yielded so far to clients at once, in one write. An effect of `TurnContext.stream` calls it
   * when it has yielded everything that arrived and has to wait for more. Without it pieces take about a millisecond.
   */
  flush?: () => void;
  /**
   * Reports that a model other than the step's subject is called. Tokens of an interrupted call are counted for that
   * model.
   */
  asks?: (model: string) => void;
  /** Reports the usage of a failed call, by models, that another one of the attempt follows. That of the last call is in its error. */
  spent?: (usage: {
    readonly [model: string]: { prompt_tokens: number; completion_tokens: number };
  }) => void;
  /**
   * Reports that a part of the answer has arrived that is not yielded, such as a piece of a call. Undefined for a step that nothing
   * cuts.
   */
  arrived?: () => void;
  /** The pieces yielded by the attempt so far are void: later pieces replace them. */
  startOver?: () => void;
  /** Undefined on hosts without a cache. Entries are written together with the step's result: both or neither. */
  cache?: StepCache;
  /** The tenant's logins at other servers; undefined on hosts without any. */
  logins?: ServerLogins;
  /** Undefined if no trace is recorded; send it to services that record one. */
  trace?: TraceContext;
  /**
   * The hop count of a run that a request of the step starts: one more than the run's. Undefined on hosts whose runs have
   * none.
   */
  hops?: number;
  /**
   * Takes over work at another service that the run no longer needs, after the run has ended, too: the host has it cancelled, and
   * repeats that until the service confirms it. Undefined on hosts that record nothing: there the step itself cancels it.
   */
  abandon?: (work: RemoteWork) => void;
}
