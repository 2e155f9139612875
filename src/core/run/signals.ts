import { TroupeError } from "../errors.ts";

/**
 * Why a turn stops before its end. `suspend`: it waits for a human or for a time more than a moment away;
 * `pause`, `cancel`: somebody asked for it; `halt`: a sibling failed; `superseded`: another driver took over.
 */
export type TurnSignalKind = "suspend" | "pause" | "cancel" | "halt" | "superseded";

/**
 * Thrown through agent and tool code to end a turn early. It is not an error: code that turns failures into
 * results must let it pass (see {@link rethrowSignal}).
 */
export class TurnSignal extends Error {
  readonly kind: TurnSignalKind;

  constructor(kind: TurnSignalKind) {
    super(`turn stopped: ${kind}`);
    this.name = "TurnSignal";
    this.kind = kind;
  }
}

export function isTurnSignal(error: unknown): error is TurnSignal {
  return error instanceof TurnSignal;
}

/** Codes of errors that say the turn cannot be run as it is; they end the run, whoever was called. */
const FATAL: ReadonlySet<string> = new Set(["code_changed", "nested_step", "duplicate_step"]);

/** First line of every `catch` that makes a result of an error. */
export function rethrowSignal(error: unknown): void {
  if (isTurnSignal(error)) throw error;
  if (error instanceof TroupeError && FATAL.has(error.code)) throw error;
}
