/** One thing that is tried: passes when it reports no problem. */
export interface Case {
  /** Says what is done; with the seed it repeats the case. */
  name: string;
  /** Returns what is wrong. */
  run(): Promise<readonly string[]>;
}

export interface Tally {
  passed: number;
  failed: number;
}

/** Runs the cases whose name contains `only`, side by side, and prints those that fail. */
export async function runCases(
  cases: AsyncGenerator<Case, void, void>,
  parallel: number,
  only: string,
  tally: Tally,
): Promise<void> {
  const worker = async (): Promise<void> => {
    for (let next = await cases.next(); next.done !== true; next = await cases.next()) {
      const { name, run } = next.value;
      if (!name.includes(only)) continue;
      const problems = await run().catch((error: unknown) => [describe(error)]);
      if (problems.length === 0) {
        tally.passed++;
        continue;
      }
      tally.failed++;
      console.log(`FAIL ${name}`);
      for (const problem of problems) console.log(`     ${problem}`);
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
