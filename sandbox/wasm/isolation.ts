import type { Isolation, LanguageInfo, Runner } from "../runner.ts";
import { WasmRunner } from "./runner.ts";
import { type Snapshot, snapshotOf } from "./snapshot.ts";
import { NO_PACKAGES, type PackagePlan } from "./wheels/plan.ts";

export interface WasmOptions {
  /** Where the snapshot of Python is stored for the next start. */
  cacheDirectory: string;
  /** What Python has besides its standard library. */
  packages?: PackagePlan;
  /** Writes the reasons why packages cannot be installed. */
  log?: (line: string) => void;
  /** Processes that are ready for new sessions. */
  poolSize: number;
}

/** Python in WebAssembly and a shell interpreter, in a process for each session. */
export class WasmIsolation implements Isolation {
  readonly name = "wasm";
  readonly hasOutsideEffects = false;
  readonly walls = [];
  readonly missing = [];
  languages: readonly LanguageInfo[] = [];
  readonly #options: WasmOptions;
  readonly #pool: Promise<WasmRunner>[] = [];
  readonly #plan: PackagePlan;
  #snapshot: Snapshot | undefined;
  #closed = false;

  constructor(options: WasmOptions) {
    this.#options = options;
    this.#plan = options.packages ?? NO_PACKAGES;
  }

  async start(): Promise<void> {
    const { cacheDirectory, log = () => undefined } = this.#options;
    this.#snapshot = await snapshotOf(cacheDirectory, this.#plan);
    const first = await this.#startRunner();
    for (const failure of [...this.#snapshot.failures, ...first.failures])
      log(`SANDBOX_PACKAGES: ${failure}`);
    this.languages = [
      {
        name: "python",
        aliases: ["py", "python3"],
        version: first.pythonVersion,
        ...(this.#options.packages && { packages: this.#snapshot.packages }),
      },
      { name: "sh", aliases: ["bash", "shell"], version: "" },
    ];
    this.#pool.push(Promise.resolve(first));
    this.#fill();
    await Promise.all(this.#pool);
  }

  async runner(): Promise<Runner> {
    for (;;) {
      const runner = await (this.#pool.shift() ?? this.#startRunner());
      this.#fill();
      // It may have crashed while it was in the pool.
      if (runner.usable) return runner;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const waiting = await Promise.allSettled(this.#pool.splice(0));
    for (const starting of waiting)
      if (starting.status === "fulfilled") await starting.value.close();
  }

  #fill(): void {
    while (!this.#closed && this.#pool.length < this.#options.poolSize) {
      const starting = this.#startRunner();
      // The failure is reported to the session that takes it.
      starting.catch(() => undefined);
      this.#pool.push(starting);
    }
  }

  #startRunner(): Promise<WasmRunner> {
    if (this.#snapshot === undefined || this.#closed)
      throw new Error("the isolation is not started");
    return WasmRunner.start(this.#snapshot, this.#plan.startImports);
  }
}
