import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Workerd } from "../chaos/harness/workerd.ts";
import type { BuildOptions } from "./built-worker.ts";
import { configOfWorker } from "./workerd-config.ts";

export interface KillableWorkerOptions extends BuildOptions {
  /** The origin of what acts as the binding VECTORIZE. Without it there is no such binding. */
  vectorize?: string | undefined;
  /** Whether it has the binding `MEMORY`. Default true. */
  memories?: boolean;
  /** Whether it has the binding `LOADER`. Default false. */
  loader?: boolean;
  /** Whether it has the binding `CONTAINERS`, to the class `StandInSandbox` of its entry. Default false. */
  containers?: boolean;
  /** Flags of V8. */
  v8Flags?: readonly string[];
  /** Where it listens; any free port without it. */
  port?: number | undefined;
  /** The directory of the objects' databases, which are otherwise removed with the worker. */
  persistTo?: string | undefined;
  /** Gets what the Worker and the runtime log. */
  logs?(message: string): void;
}

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

  static async start(
    settings: Record<string, string> = {},
    { vectorize, port, persistTo, logs, ...deployed }: KillableWorkerOptions = {},
  ): Promise<KillableWorker> {
    const bindings = { TROUPE_OPEN: "1", ...settings };
    const config = await configOfWorker(Object.keys(bindings), {
      ...deployed,
      vectorize: vectorize !== undefined,
      structuredLogs: true,
    });
    const directory = mkdtempSync(join(tmpdir(), "troupe-worker-"));
    const state = persistTo ?? join(directory, "state");
    const vars = { ...bindings, ...(vectorize !== undefined && { VECTORIZE_ORIGIN: vectorize }) };
    const onOutput = (line: string): void => logs?.(messageIn(line));
    const workerd = new Workerd({ config, state, vars, port, onOutput });
    const worker = new KillableWorker(directory, state, workerd);
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

  /** The time of processors that the process has used, in milliseconds: it does not grow while other programs have them. */
  get cpuMs(): number {
    const stat = readFileSync(`/proc/${this.#workerd.pid}/stat`, "utf8");
    // The fields after the program's name; the kernel counts in hundredths of a second.
    const [user] = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11);
    return Number(user) * 10;
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

/** The message of a line of structured logs. What the runtime writes before it has read its configuration is text. */
function messageIn(line: string): string {
  if (!line.startsWith("{")) return line;
  const { message } = JSON.parse(line) as { message: string };
  return message;
}
