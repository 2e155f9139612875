import { isPassing } from "./passing-error.ts";

/** Attempts at one step before an error is final for which waiting does not help. */
const MAX_ATTEMPTS = 5;

/** The time for which a step waits for a server that is away, if its policy does not say: two minutes. */
const DEFAULT_PATIENCE_SECONDS = 120;

const FIRST_DELAY_MS = 500;
/** So that a long outage costs little. */
const LONGEST_DELAY_MS = 60_000;

/** The outlook for another attempt by the error of a failed one: fields of the errors that components throw. */
export interface Outlook {
  /** True if the same request may succeed later ({@link isPassing}). */
  readonly retryable: boolean;
  /** True if the server is away, overloaded or limits the rate, so that waiting helps. */
  readonly outage: boolean;
  /** True if it is certain that the server got nothing: no connection was made. Then a step of any policy is repeated. */
  readonly unsent: boolean;
  /** Milliseconds that the server asks to wait. */
  readonly retryAfterMs: number | undefined;
}

/** The outlook of an error for another attempt. Errors without these fields are final. */
export function outlookOf(error: unknown): Outlook {
  const said = (field: keyof Outlook): unknown =>
    error instanceof Error ? Reflect.get(error, field) : undefined;
  const asked = said("retryAfterMs");
  return {
    retryable: isPassing(error),
    outage: said("outage") === true,
    unsent: said("unsent") === true,
    retryAfterMs: typeof asked === "number" && asked >= 0 ? asked : undefined,
  };
}

/** The retry policy of a step for errors that another attempt may resolve. */
export interface RetryPolicy {
  /** Seconds after the first failure in which another attempt may begin. */
  forSeconds?: number | undefined;
  /** Attempts in all, the first one included. */
  attempts?: number | undefined;
}

/** A failed attempt with an error that another attempt may resolve. */
export interface FailedAttempt {
  /** 1 is the first one. */
  attempt: number;
  /** Milliseconds since the first attempt failed; 0 for the first one. */
  failingMs: number;
  error: unknown;
}

/**
 * Milliseconds to wait before the next attempt, or undefined when there is none. The delay doubles from half a second; a
 * server's `Retry-After` (`retryAfterMs` of the error) wins.
 *
 * A step tries until `forSeconds` are over or `attempts` are used up. A policy that leaves both out waits two minutes for
 * a server that is away, and makes at least {@link MAX_ATTEMPTS}. A `Retry-After` beyond the end of the patience ends it
 * at once.
 */
export function retryDelay(
  { attempt, failingMs, error }: FailedAttempt,
  { forSeconds, attempts }: RetryPolicy = {},
): number | undefined {
  if (attempts !== undefined && attempt >= attempts) return undefined;
  const { outage, retryAfterMs } = outlookOf(error);
  const left = (forSeconds ?? DEFAULT_PATIENCE_SECONDS) * 1000 - failingMs;
  if (retryAfterMs !== undefined) {
    if (retryAfterMs > left) return undefined;
    // A server that asks for no wait again and again would get thousands of requests.
    const least = attempt < MAX_ATTEMPTS ? 0 : doubled(attempt - MAX_ATTEMPTS);
    return Math.max(retryAfterMs, Math.min(least, left));
  }
  const delay = doubled(attempt - 1);
  if (left > 0 && (outage || forSeconds !== undefined)) return Math.min(left, delay);
  if (forSeconds !== undefined) return undefined;
  return attempt < (attempts ?? MAX_ATTEMPTS) ? delay : undefined;
}

function doubled(times: number): number {
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** times);
}

const counted = new WeakSet<Error>();

/** Adds to the message of an error how many attempts have ended with it. Several steps may have the same error. */
export function countAttempts({ attempt, failingMs, error }: FailedAttempt): void {
  if (attempt < 2 || !(error instanceof Error) || counted.has(error)) return;
  counted.add(error);
  const seconds = Math.max(1, Math.round(failingMs / 1000));
  const message = `${error.message} (${attempt} attempts in ${seconds} second${seconds === 1 ? "" : "s"})`;
  // The messages of some errors have no setter.
  Object.defineProperty(error, "message", { value: message, configurable: true, writable: true });
}

/** For {@link lateRetryDelay}: the time within which attempts are made, the first delay and the longest. */
const LATE_MS = 86_400_000;
const FIRST_LATE_DELAY_MS = 5_000;
const LONGEST_LATE_DELAY_MS = 1_800_000;

/** The delay of work that no run waits for: it doubles from five seconds to half an hour, for a day. */
export function lateRetryDelay({
  attempt,
  failingMs,
}: Omit<FailedAttempt, "error">): number | undefined {
  const delay = Math.min(LONGEST_LATE_DELAY_MS, FIRST_LATE_DELAY_MS * 2 ** (attempt - 1));
  return failingMs + delay > LATE_MS ? undefined : delay;
}
