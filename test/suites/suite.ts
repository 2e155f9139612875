/** One test of a suite. Those that it skipped are left out. */
export interface Outcome {
  test: string;
  failed: boolean;
}

/** How a suite is run against a server. */
export interface Stage extends AsyncDisposable {
  run(checkout: string): {
    command: string;
    args: readonly string[];
    env: Readonly<Record<string, string>>;
    /** The tests by what the command wrote to its output, or into the checkout. */
    outcomes: (output: string) => Outcome[];
  };
}

export interface Suite {
  /** The commit of the suite that the expected failures are about. */
  commit: string;
  /** Why tests fail, by a part of their names. */
  expectedFailures: Readonly<Record<string, string>>;
  /** Starts the server with what the suite asks for. */
  start(): Promise<Stage>;
}

/** The outcomes that a program prints, one a line: `passed: NAME` or `failed: NAME`. */
export function printedOutcomes(output: string): Outcome[] {
  return Array.from(output.matchAll(/^(passed|failed): (.+)$/gm), ([, outcome, test = ""]) => ({
    test,
    failed: outcome === "failed",
  }));
}
