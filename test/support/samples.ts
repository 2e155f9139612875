import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** Whether tests try all of their cases; vitest.config.ts sets it. */
    allCases: boolean;
    /** True where tests try each row of their matrices; vitest.config.ts sets it. */
    allRows: boolean;
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

/**
 * The rows of a matrix that would take a test minutes, such as the widths of a page: all of them with `npm run test:matrix`,
 * otherwise one, which depends on the name of the test, so that the tests together try every row.
 */
export function rowsOf<T>(test: string, rows: readonly T[]): T[] {
  if (inject("allRows")) return [...rows];
  const sum = new TextEncoder().encode(test).reduce((total, byte) => total + byte, 0);
  return rows.slice(sum % rows.length).slice(0, 1);
}
