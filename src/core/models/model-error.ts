import { TroupeError, type TroupeErrorOptions } from "../errors.ts";

export type ModelErrorKind =
  | "rate_limit"
  | "auth"
  | "context_length"
  | "bad_request"
  | "server"
  | "timeout"
  | "connection"
  | "bad_response"
  | "exhausted";

const RETRYABLE: ReadonlySet<ModelErrorKind> = new Set([
  "rate_limit",
  "server",
  "timeout",
  "connection",
  "bad_response",
]);

export interface ModelErrorOptions extends TroupeErrorOptions {
  /** HTTP status of the answer, if there was one. */
  status?: number | undefined;
  /** Milliseconds the server asked to wait (`Retry-After`). */
  retryAfterMs?: number | undefined;
  /** Overrides the default of the kind. */
  retryable?: boolean | undefined;
}

/** A failed model call. `code` is `model_<kind>`; `retryable` says whether the same request may succeed later. */
export class ModelError extends TroupeError {
  readonly kind: ModelErrorKind;
  readonly retryable: boolean;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(kind: ModelErrorKind, message: string, options: ModelErrorOptions = {}) {
    super(`model_${kind}`, message, options);
    this.kind = kind;
    this.retryable = options.retryable ?? RETRYABLE.has(kind);
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}
