/** Attempts at one step before its error is final. */
export const MAX_ATTEMPTS = 5;

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 30_000;
/** A day. `Retry-After` may be any number. */
const LONGEST_ASKED_MS = 86_400_000;

/**
 * Milliseconds to wait after failed attempt number `attempt` (1 is the first), or undefined after the last one. Doubles from half a second to half a minute; a server's `Retry-After` (`retryAfterMs` of the error) wins, up to a day.
 */
export function retryDelay(attempt: number, error: unknown): number | undefined {
  if (attempt >= MAX_ATTEMPTS) return undefined;
  const asked = error instanceof Error && "retryAfterMs" in error ? error.retryAfterMs : undefined;
  if (typeof asked === "number" && asked >= 0) return Math.min(asked, LONGEST_ASKED_MS);
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1));
}
