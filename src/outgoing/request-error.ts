import { TroupeError, type TroupeErrorOptions } from "../core/errors.ts";
import type { Outlook } from "../core/steps/retry.ts";
import { retryAfter } from "./retry-after.ts";

export interface RequestErrorOptions extends TroupeErrorOptions {
  /** Default: false. */
  retryable?: boolean | undefined;
  /** Default: as `retryable`. */
  outage?: boolean | undefined;
  /** Default: false. */
  unsent?: boolean | undefined;
  retryAfterMs?: number | undefined;
}

/** A request to a server that has no usable answer, and what that means for another attempt. */
export class RequestError extends TroupeError {
  /** True if the same request may succeed later. */
  readonly retryable: boolean;
  /** True if the server is away, overloaded or limits the rate, so that waiting helps. */
  readonly outage: boolean;
  /** True if it is certain that the server got nothing, because no connection was made. */
  readonly unsent: boolean;
  /** Milliseconds that the server asks to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(code: string, message: string, options: RequestErrorOptions = {}) {
    const { retryable = false, outage = retryable, unsent = false, retryAfterMs, ...own } = options;
    super(code, message, own);
    this.retryable = retryable;
    this.outage = outage;
    this.unsent = unsent;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * The outlook for another attempt by the status of an answer. A 500 may be due to the request, so waiting for long does
 * not help. 521 is what Cloudflare answers in the place of a server that refuses its connections.
 */
export function outlookOfStatus(status: number, headers: Headers = new Headers()): Outlook {
  const retryable = [408, 425, 429].includes(status) || (status >= 500 && status !== 501);
  return {
    retryable,
    outage: retryable && status !== 408 && status !== 500,
    unsent: status === 521 && headers.get("server")?.toLowerCase() === "cloudflare",
    retryAfterMs: retryAfter(headers),
  };
}

/** The words about a wait that a server asks for; empty if it asks for none. */
export function askedWaitText(retryAfterMs = 0): string {
  const seconds = Math.ceil(retryAfterMs / 1000);
  return seconds < 2 ? "" : ` (the server asks for a wait of ${seconds} seconds)`;
}

/** The error of a `fetch` for which no connection to the server was made. */
export class NoConnectionError extends TypeError {
  readonly unsent = true;
}

/** Node's codes of errors before there is a connection: the server refuses it, or its name is not found. */
const BEFORE_CONNECTION: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"]);

/**
 * True if it is certain that the server got nothing of a request that failed with this error. workerd does not say at
 * which point a connection failed; then it is not.
 */
export function isUnsent(error: unknown): boolean {
  for (let inner = error; inner instanceof Error; inner = inner.cause) {
    if ("unsent" in inner && inner.unsent === true) return true;
    if ("code" in inner && BEFORE_CONNECTION.has(inner.code)) return true;
  }
  return false;
}
