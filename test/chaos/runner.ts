/** One thing that is tried: passes when it reports no problem. */
export interface Case {
  /** Describes the case; with the seed it repeats it. */
  name: string;
  /** Returns the problems found. */
  run(): Promise<readonly string[]>;
}

/** A run of thousands of cases says how far it is. */
const TOTALS_MS = 20_000;

/** Runs cases side by side, prints those that fail, and counts. */
export class Runner implements Disposable {
  passed = 0;
  failed = 0;
  readonly #parallel: number;
  readonly #only: string;
  readonly #running = new Set<string>();
  readonly #totals: () => string;
  /** The number of cases at the last print. */
  #printed = 0;
  readonly #timer = setInterval(() => this.#print(), TOTALS_MS).unref();

  /**
   * @param only runs the cases whose name contains it
   * @param totals what is printed with the counts while cases run
   */
  constructor(parallel: number, only: string, totals: () => string = () => "") {
    this.#parallel = parallel;
    this.#only = only;
    this.#totals = totals;
    process.on("unhandledRejection", this.#onUnhandled);
    process.on("uncaughtException", this.#onUnhandled);
  }

  async run(cases: AsyncGenerator<Case, void, void>): Promise<void> {
    const worker = async (): Promise<void> => {
      try {
        for (let next = await cases.next(); next.done !== true; next = await cases.next()) {
          if (next.value.name.includes(this.#only)) await this.#try(next.value);
        }
      } catch (error) {
        // The generator has ended with this error, so the other workers find no further case.
        this.#fail("the harness: no further cases of this kind", [describe(error)]);
      }
    };
    await Promise.all(Array.from({ length: this.#parallel }, worker));
    this.#print();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    process.off("unhandledRejection", this.#onUnhandled);
    process.off("uncaughtException", this.#onUnhandled);
  }

  async #try({ name, run }: Case): Promise<void> {
    this.#running.add(name);
    const problems = await run().catch((error: unknown) => [describe(error)]);
    this.#running.delete(name);
    if (problems.length === 0) this.passed++;
    else this.#fail(name, problems);
  }

  /** An error of the harness outside any case: reported as a failure of its own, the other cases continue. */
  readonly #onUnhandled = (error: unknown): void => {
    const running = [...this.#running].join("; ") || "none";
    this.#fail("the harness: unhandled error", [describe(error), `running: ${running}`]);
  };

  #print(): void {
    const counted = this.passed + this.failed;
    if (counted === this.#printed && this.#running.size === 0) return;
    this.#printed = counted;
    const running = [...this.#running].map((name) => `\n     running: ${name}`);
    const totals = [`${this.passed} passed`, `${this.failed} failed`, this.#totals()];
    console.log(`so far: ${totals.filter(Boolean).join(", ")}${running.join("")}`);
  }

  #fail(name: string, problems: readonly string[]): void {
    this.failed++;
    console.log(`FAIL ${name}`);
    for (const problem of problems) console.log(`     ${problem}`);
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
