import { TroupeError } from "../../core/errors.ts";

/**
 * A remote agent without an answer. `a2a_connection` is temporary; `a2a_refused`: it answered with an error; `a2a_protocol`:
 * its answer violates the protocol or a limit; `a2a_timeout`: its task took too long; `a2a_failed`: its task has failed, or
 * was rejected or cancelled.
 */
export class A2AError extends TroupeError {
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(
    code: "a2a_connection" | "a2a_refused" | "a2a_protocol" | "a2a_timeout" | "a2a_failed",
    message: string,
    retryAfterMs?: number,
  ) {
    super(code, message);
    this.retryable = code === "a2a_connection";
    this.retryAfterMs = retryAfterMs;
  }
}
