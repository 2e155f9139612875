import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Workerd } from "../chaos/harness/workerd.ts";
import { configOfWorker } from "./workerd-config.ts";

/** The Worker as it is deployed in a process of its own, which can be ended with kill -9 and started on what it had stored. */
export class KillableWorker implements AsyncDisposable {
  readonly #directory: string;
  readonly #workerd: Workerd;
  /** The directories of the objects' databases, one for each class. */
  readonly state: string;

  private constructor(directory: string, state: string, workerd: Workerd) {
    this.#directory = directory;
    this.state = state;
    this.#workerd = workerd;
  }

  /** @param options.vectorize the origin of what acts as the binding VECTORIZE */
  static async start(
    settings: Record<string, string> = {},
    options: { vectorize?: string } = {},
  ): Promise<KillableWorker> {
    const directory = mkdtempSync(join(tmpdir(), "troupe-kill-"));
    const vars = { TROUPE_OPEN: "1", ...settings };
    const config = await configOfWorker(directory, Object.keys(vars), options);
    const state = join(directory, "state");
    const worker = new KillableWorker(directory, state, new Workerd({ config, state, vars }));
    await worker.restart();
    return worker;
  }

  /** The same before and after. */
  get origin(): string {
    return this.#workerd.origin;
  }

  /** The most memory that the process has had, in bytes. */
  get peakMemory(): number {
    const status = readFileSync(`/proc/${this.#workerd.pid}/status`, "utf8");
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
  }

  fetch(path: string, init?: RequestInit): Promise<Response> {
    return fetch(new URL(path, this.origin), init);
  }

  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void> {
    return this.#workerd.kill();
  }

  restart(): Promise<void> {
    return this.#workerd.start(null);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
