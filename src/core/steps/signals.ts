import { TroupeError } from "../errors.ts";

/**
 * Why a turn stops before its end. `suspend`: it waits for a human or a long backoff; `pause`, `cancel`: requested by a
 * client; `halt`: a sibling failed; `superseded`: the run has ended or another run loop continues it.
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

/** Codes of errors in the turn itself; they end the run even when a tool throws them. */
const FATAL: ReadonlySet<string> = new Set(["code_changed", "nested_step", "duplicate_step"]);

/** Rethrows signals and fatal errors: the first line of every `catch` that turns an error into a result. */
export function rethrowSignal(error: unknown): void {
  if (isTurnSignal(error)) throw error;
  if (error instanceof TroupeError && FATAL.has(error.code)) throw error;
}
