import { TroupeError, type TroupeErrorOptions } from "../core/errors.ts";

/**
 * Why the sandbox gave no result. `sandbox_unavailable` passes by itself, so the same request may be made again under its
 * key; `sandbox_refused` does not.
 */
export class SandboxError extends TroupeError {
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  /** HTTP status of the answer, where there was one. */
  readonly status: number | undefined;

  constructor(
    code: "sandbox_unavailable" | "sandbox_refused",
    message: string,
    { status, retryAfterMs, ...options }: SandboxErrorOptions = {},
  ) {
    super(code, message, options);
    this.retryable = code === "sandbox_unavailable";
    this.retryAfterMs = retryAfterMs;
    this.status = status;
  }
}

export interface SandboxErrorOptions extends TroupeErrorOptions {
  status?: number | undefined;
  retryAfterMs?: number | undefined;
}
