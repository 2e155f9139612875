const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Waits between attempts, milliseconds: together three days. */
const WAITS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  20.5 * HOUR,
];

/** A wait is longer or shorter by up to this part of it. */
const JITTER = 0.1;

/** The longest wait that a receiver can ask for. */
const LONGEST_WAIT = 24 * HOUR;

/**
 * Milliseconds until the next attempt; null when the delivery is given up.
 *
 * @param attempts made so far, at least 1
 * @param asked milliseconds that the receiver asked to wait: can only lengthen the wait
 * @param random from 0 to 1
 */
export function nextWait(attempts: number, asked: number | null, random: number): number | null {
  const wait = WAITS[attempts - 1];
  if (wait === undefined) return null;
  const spread = wait * (1 + JITTER * (2 * random - 1));
  return Math.round(Math.max(spread, Math.min(asked ?? 0, LONGEST_WAIT)));
}
