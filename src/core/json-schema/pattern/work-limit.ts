/** About a quarter of a second of work at worst; ordinary values need a few hundred steps. */
const STEPS = 5_000_000;

/** JSON nested deeper is refused: the recursion over it would exhaust the stack. */
export const MAX_DEPTH = 250;

class WorkLimitReached extends Error {
  override readonly name = "WorkLimitReached";
}

/** True if an error means too much work: beyond the limit, or beyond the stack (long chains of `$ref`). */
export function isTooMuch(error: unknown): boolean {
  return error instanceof WorkLimitReached || error instanceof RangeError;
}

/**
 * The number of steps one check may take. Schemas and values come from outside, and some combinations need time
 * exponential in their size; a count, unlike a clock, gives the same answer when a turn is run again.
 */
export class WorkLimit {
  #left = STEPS;

  /** @throws an error that {@link isTooMuch} knows */
  spend(steps = 1): void {
    this.#left -= steps;
    if (this.#left < 0) throw new WorkLimitReached();
  }
}

/** True if a JSON value is nested deeper than {@link MAX_DEPTH} levels. */
export function isTooDeep(value: unknown, levels = MAX_DEPTH): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    if (isTooDeep(item, levels - 1)) return true;
  }
  return false;
}
