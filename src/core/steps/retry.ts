/** Attempts at one step before its error is final, where the step has no {@link RetryPolicy}. */
export const MAX_ATTEMPTS = 5;

/**
 * How long a step with a {@link RetryPolicy} waits for a server that is down, if the policy does not say: two minutes.
 */
export const DEFAULT_PATIENCE_SECONDS = 120;

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 30_000;
/** The longest delay of a patient step, so that a long outage costs little. */
const LONGEST_PATIENT_DELAY_MS = 60_000;
/** A day. `Retry-After` may be any number. */
const LONGEST_ASKED_MS = 86_400_000;

/** Codes of failures for which waiting helps: the server is down, overloaded or limits the rate. */
const OUTAGES: ReadonlySet<unknown> = new Set(["connection", "rate_limit", "server"]);

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
 * Without a policy a step has {@link MAX_ATTEMPTS}. With one it tries until `forSeconds` are over or `attempts` are used
 * up. A policy that leaves both out waits {@link DEFAULT_PATIENCE_SECONDS} for a server that is away, and makes at least
 * {@link MAX_ATTEMPTS}. A `Retry-After` beyond the end of the patience ends it at once.
 */
export function retryDelay(failed: FailedAttempt, policy?: RetryPolicy): number | undefined {
  const asked = askedDelay(failed.error);
  if (policy === undefined) {
    if (failed.attempt >= MAX_ATTEMPTS) return undefined;
    return asked === undefined
      ? doubled(failed.attempt, LONGEST_DELAY_MS)
      : Math.min(asked, LONGEST_ASKED_MS);
  }
  if (policy.attempts !== undefined && failed.attempt >= policy.attempts) return undefined;
  const left = (policy.forSeconds ?? DEFAULT_PATIENCE_SECONDS) * 1000 - failed.failingMs;
  if (asked !== undefined) return asked > left ? undefined : asked;
  if (left > 0 && (isOutage(failed.error) || policy.forSeconds !== undefined)) {
    return Math.min(left, doubled(failed.attempt, LONGEST_PATIENT_DELAY_MS));
  }
  if (policy.forSeconds !== undefined) return undefined;
  const attempts = policy.attempts ?? MAX_ATTEMPTS;
  return failed.attempt < attempts ? doubled(failed.attempt, LONGEST_DELAY_MS) : undefined;
}

/** The wait that the server requested, in milliseconds. */
function askedDelay(error: unknown): number | undefined {
  const asked = error instanceof Error && "retryAfterMs" in error ? error.retryAfterMs : undefined;
  return typeof asked === "number" && asked >= 0 ? asked : undefined;
}

function isOutage(error: unknown): boolean {
  return error instanceof Error && "kind" in error && OUTAGES.has(error.kind);
}

function doubled(attempt: number, longest: number): number {
  return Math.min(longest, FIRST_DELAY_MS * 2 ** (attempt - 1));
}
