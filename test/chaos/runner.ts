/** One thing that is tried: passes when it reports no problem. */
export interface Case {
  /** Unique; `--only` runs the cases whose name contains its value. */
  name: string;
  /** Returns what is wrong. */
  run(): Promise<readonly string[]>;
}

export interface Tally {
  passed: number;
  failed: number;
}

/** Runs cases side by side and prints those that fail. */
export async function runCases(
  cases: Iterable<Case>,
  parallel: number,
  tally: Tally,
): Promise<void> {
  const queue = cases[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = queue.next(); !next.done; next = queue.next()) {
      const { name, run } = next.value;
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
