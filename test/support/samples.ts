import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** Whether tests try all of their cases; vitest.config.ts sets it. */
    allCases: boolean;
  }
}

/**
 * The cases of a test that tries each in turn: all of them with `npm test -- --all`, otherwise the first, the last and some
 * between at equal distances, the same in each run.
 *
 * @param most how many there are otherwise, at least two
 */
export function sampled<T>(cases: Iterable<T>, most = 3): T[] {
  const all = [...cases];
  if (inject("allCases") || all.length <= most) return all;
  const distance = (all.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, index) => all[Math.round(index * distance)] as T);
}

/** The number of cases that a property is checked with: all of them with `npm test -- --all`, otherwise a fifth. */
export function casesOf(all: number): number {
  return inject("allCases") ? all : Math.ceil(all / 5);
}
