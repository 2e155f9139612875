import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import type { Readable } from "node:stream";
import { createInterface } from "node:readline";
import { freePort } from "../../support/ports.ts";
import { WORKERD } from "../../support/workerd-config.ts";
import type { Arming, Marker } from "../worker/protocol.ts";
import { MARK } from "../worker/protocol.ts";

const READY_WITHIN_MS = 240_000;

/** Processes to end with this one. */
const alive = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of alive) child.kill("SIGKILL");
});

export interface WorkerdOptions {
  /** Written by `configOfWorker`. */
  config: string;
  /** Directory of the objects' databases; made when missing. */
  state: string;
  /** Values of the Worker's text bindings. */
  vars: Readonly<Record<string, string>>;
  /** Where it listens; any free port without it. */
  port?: number | undefined;
  /** Called for each line the chaos worker marks, before anything else that the process does is noticed. */
  onMarker?(marker: Marker): void;
  /** Its other output: errors of the runtime and of the service. */
  onOutput?(line: string): void;
}

/** One real workerd over a directory of state: killed and started again on the same port, as often as one likes. */
export class Workerd {
  readonly #options: WorkerdOptions;
  #child: ChildProcess | undefined;
  #port = 0;

  constructor(options: WorkerdOptions) {
    this.#options = options;
    this.#port = options.port ?? 0;
    mkdirSync(options.state, { recursive: true });
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Undefined while it is not running. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get running(): boolean {
    return this.#child !== undefined;
  }

  /** Starts it and waits until it listens. `arming` says where the worker announces that it wants to be killed. */
  async start(arming: Arming | null): Promise<void> {
    const { config, state, vars, onMarker, onOutput } = this.#options;
    // A port that no other process is given while this one is dead.
    this.#port ||= await freePort();
    const args = [
      "serve",
      "--binary",
      "--experimental",
      "--control-fd=3",
      `--socket-addr=http=127.0.0.1:${this.#port}`,
      `--directory-path=state=${state}`,
      config,
    ];
    const child = spawn(WORKERD, args, {
      env: { ...vars, CHAOS: JSON.stringify(arming) },
      stdio: ["ignore", "pipe", "pipe", "pipe"],
    });
    alive.add(child);
    this.#child = child;
    const ended = once(child, "exit");
    child.on("exit", () => {
      alive.delete(child);
      if (this.#child === child) this.#child = undefined;
    });
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on("line", (line) => {
        if (line.startsWith(MARK)) onMarker?.(JSON.parse(line.slice(MARK.length)) as Marker);
        else onOutput?.(line);
      });
    }
    const control = child.stdio[3] as Readable;
    const ready = new Promise<void>((listens, reject) => {
      control.setEncoding("utf8").on("data", (text: string) => {
        if (text.includes('"event":"listen"')) listens();
      });
      setTimeout(
        () => reject(new Error(`workerd does not listen after ${READY_WITHIN_MS} ms`)),
        READY_WITHIN_MS,
      ).unref();
    });
    await Promise.race([
      ready,
      ended.then(() => {
        throw new Error("workerd ended before it listened");
      }),
    ]);
  }

  /** SIGKILL. Resolves when the process is gone, so that its port and its files are free. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }
}
