import type { Moment, StepAhead } from "../../../core/turn/turn-host.ts";

/**
 * `start`: of a new run; `idle`: after an answer, a pause, a wait or a time in the queue; `recovery`: the run needed something when
 * the object was loaded, so the execution before was interrupted.
 */
export type ExecutionOrigin = "start" | "idle" | "recovery";

/** The part of an execution that code within it needs. */
export interface Fence {
  readonly origin: ExecutionOrigin;
  /** True once the run is idle, has ended, or belongs to another execution: nothing may be written any more. */
  readonly superseded: boolean;
  /** Aborts when effects under way have to stop. */
  readonly signal: AbortSignal;
  clock(): Moment;
  /** Waits in memory; a pause or a cancellation ends the wait early. */
  sleep(ms: number): Promise<void>;
  /** Ends such waits. */
  interrupt(): void;
}

/** The steps of a run that may be the cause of its interruptions. */
export interface SuspectSteps {
  /** A step begins. Resolves when it is stored which one may be the cause of the next interruption. */
  begins(step: StepAhead): Promise<void> | undefined;
  /** A step has ended, and code of the run continues. */
  settled(): Promise<void> | undefined;
}
