import { RequestError, type RequestErrorOptions } from "../../outgoing/request-error.ts";

/**
 * A remote agent without an answer. `a2a_connection` is temporary; `a2a_refused`: it answered with an error; `a2a_protocol`:
 * its answer violates the protocol or a limit; `a2a_timeout`: its task took too long; `a2a_failed`: its task has failed, or
 * was rejected or cancelled.
 */
export class A2AError extends RequestError {
  /** The code of the agent's JSON-RPC error, or the status of its answer. */
  readonly answered: number | undefined;

  constructor(
    code: "a2a_connection" | "a2a_refused" | "a2a_protocol" | "a2a_timeout" | "a2a_failed",
    message: string,
    {
      answered,
      ...options
    }: Omit<RequestErrorOptions, "retryable"> & { answered?: number | undefined } = {},
  ) {
    super(code, message, { ...options, retryable: code === "a2a_connection" });
    this.answered = answered;
  }
}
