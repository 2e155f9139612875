import { TroupeError, type TroupeErrorOptions } from "../errors.ts";
import type { UsageByModel } from "./request-usage.ts";

export type ModelErrorKind =
  | "rate_limit"
  | "auth"
  | "context_length"
  | "bad_request"
  | "server"
  | "timeout"
  | "connection"
  | "bad_response"
  | "empty_response"
  | "refused"
  | "exhausted";

const RETRYABLE: ReadonlySet<ModelErrorKind> = new Set([
  "rate_limit",
  "server",
  "timeout",
  "connection",
  "bad_response",
  "empty_response",
]);

/** Failures for which waiting helps. */
const OUTAGES: ReadonlySet<ModelErrorKind> = new Set(["connection", "rate_limit", "server"]);

export interface ModelErrorOptions extends TroupeErrorOptions {
  /** HTTP status of the answer, if there was one. */
  status?: number | undefined;
  /** Milliseconds the server asked to wait (`Retry-After`). */
  retryAfterMs?: number | undefined;
  /** Overrides the default of the kind. */
  retryable?: boolean | undefined;
  /** The usage of the failed call, where its provider charges for it. */
  spent?: UsageByModel | undefined;
}

/** A failed model call. `code` is `model_<kind>`; `retryable` says whether the same request may succeed later. */
export class ModelError extends TroupeError {
  readonly kind: ModelErrorKind;
  readonly retryable: boolean;
  /** True if the server is down, overloaded or limits the rate, so that waiting helps. */
  readonly outage: boolean;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly spent: ModelErrorOptions["spent"];

  constructor(kind: ModelErrorKind, message: string, options: ModelErrorOptions = {}) {
    super(`model_${kind}`, message, options);
    this.kind = kind;
    this.retryable = options.retryable ?? RETRYABLE.has(kind);
    this.outage = OUTAGES.has(kind);
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
    this.spent = options.spent;
  }
}
