import type { Isolation, LanguageInfo, Runner } from "../runner.ts";
import { WasmRunner } from "./runner.ts";
import { snapshotFile } from "./snapshot.ts";

export interface WasmOptions {
  /** Where the snapshot of Python is kept, and looked for at the next start. */
  cacheDirectory: string;
  /** Processes that wait for work. */
  poolSize: number;
}

/** Python in WebAssembly and an interpreter of shell scripts, in a process for each session. */
export class WasmIsolation implements Isolation {
  readonly name = "wasm";
  readonly hasOutsideEffects = false;
  languages: readonly LanguageInfo[] = [];
  readonly #options: WasmOptions;
  readonly #pool: Promise<WasmRunner>[] = [];
  #snapshot: string | undefined;
  #closed = false;

  constructor(options: WasmOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#snapshot = await snapshotFile(this.#options.cacheDirectory);
    const first = await this.#begin();
    this.languages = [
      { name: "python", aliases: ["py", "python3"], version: first.pythonVersion },
      { name: "sh", aliases: ["bash", "shell"], version: "" },
    ];
    this.#pool.push(Promise.resolve(first));
    this.#fill();
    await Promise.all(this.#pool);
  }

  async runner(): Promise<Runner> {
    for (;;) {
      const runner = await (this.#pool.shift() ?? this.#begin());
      this.#fill();
      // One that waited may have died.
      if (runner.usable) return runner;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const waiting = await Promise.allSettled(this.#pool.splice(0));
    for (const begun of waiting) if (begun.status === "fulfilled") await begun.value.close();
  }

  #fill(): void {
    while (!this.#closed && this.#pool.length < this.#options.poolSize) {
      const begun = this.#begin();
      // Whoever takes it hears of the failure.
      begun.catch(() => undefined);
      this.#pool.push(begun);
    }
  }

  #begin(): Promise<WasmRunner> {
    if (this.#snapshot === undefined || this.#closed)
      throw new Error("the isolation is not started");
    return WasmRunner.start(this.#snapshot);
  }
}
