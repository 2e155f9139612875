import { RequestError, type RequestErrorOptions } from "../../../outgoing/request-error.ts";

/**
 * The sandbox returned no result. `sandbox_unavailable` is temporary: the request may be repeated under its key.
 * `sandbox_refused` is not.
 */
export class SandboxError extends RequestError {
  /** The HTTP status, if there was a response. */
  readonly status: number | undefined;
  /** The `code` of the sandbox's problem document, if there was one. */
  readonly problemCode: string | undefined;
  /** The `detail` of the sandbox's problem document, if there was one. */
  readonly detail: string | undefined;

  constructor(
    code: "sandbox_unavailable" | "sandbox_refused",
    message: string,
    { status, problemCode, detail, ...options }: SandboxErrorOptions = {},
  ) {
    super(code, message, { ...options, retryable: code === "sandbox_unavailable" });
    this.problemCode = problemCode;
    this.detail = detail;
    this.status = status;
  }
}

export interface SandboxErrorOptions extends Omit<RequestErrorOptions, "retryable"> {
  status?: number | undefined;
  problemCode?: string | undefined;
  detail?: string | undefined;
}
