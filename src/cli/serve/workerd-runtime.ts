import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { groupLives, signalGroup } from "../server/process/process-group.ts";
import { ENTRY_SOCKET, type Runtime, type RuntimeStart } from "../server/runtime.ts";
import { type BuiltWorker, findWorkerd } from "./built-worker.ts";
import type { JsonLog } from "./json-log.ts";
import { SOCKET, STATE_SERVICE, workerdConfig } from "./workerd-config.ts";

/** The file descriptor on which workerd reports its sockets. */
const CONTROL = 3;
/** Starts in a row, none of which listened, before the Worker counts as failed. */
const MOST_STARTS = 3;
const PAUSE_MS = 1_000;
const MEMORY_EVERY_MS = 5_000;

export interface WorkerdRuntimeOptions extends Omit<RuntimeStart, "log"> {
  worker: BuiltWorker;
  log: JsonLog;
  /** The Unix socket of the static assets; undefined without them. */
  assets: string | undefined;
  /** Resident bytes above which it is restarted; undefined for no limit. */
  maxMemoryBytes: number | undefined;
}

/** A built Worker in workerd. It is restarted when it crashes, or when it takes too much memory. */
export class WorkerdRuntime implements Runtime {
  readonly #options: WorkerdRuntimeOptions;
  readonly #program: string;
  readonly #config: string;
  #child: ChildProcess | undefined;
  #supervised = false;
  #stopped = false;
  /** Starts since it listened last. */
  #starts = 0;

  /** @throws CliError when workerd is not installed */
  constructor(options: WorkerdRuntimeOptions) {
    this.#options = options;
    const { state, worker, vars, sandbox, assets, maxMemoryBytes } = options;
    this.#program = findWorkerd();
    this.#config = join(state.directory, "workerd.capnp");
    const text = workerdConfig({
      manifest: worker.manifest,
      vars: { ...vars, ...(sandbox && { SANDBOX_KEY: sandbox.key }) },
      assets,
      sandbox: sandbox && new URL(sandbox.url).host,
    });
    rmSync(this.#config, { force: true });
    writeFileSync(this.#config, text, { mode: 0o600 });
    mkdirSync(this.#databases, { recursive: true, mode: 0o700 });
    this.#launch();
    if (maxMemoryBytes !== undefined) {
      setInterval(() => this.#limitMemory(maxMemoryBytes), MEMORY_EVERY_MS).unref();
    }
  }

  get lives(): boolean {
    return this.#child !== undefined && groupLives(this.#child);
  }

  supervise(): void {
    this.#supervised = true;
  }

  /** Its output is always shown. */
  showHeldOutput(): void {}

  stop(signal: "SIGTERM" | "SIGKILL"): void {
    this.#stopped = true;
    if (this.#child !== undefined) signalGroup(this.#child, signal);
  }

  clean(): void {
    rmSync(this.#config, { force: true });
    this.#options.state.forgetRuntime();
  }

  /** The directory in which miniflare keeps the databases, too. */
  get #databases(): string {
    return join(this.#options.state.directory, "v3/do");
  }

  #launch(): void {
    const { sockets, worker, state, log, onMessage, onEnd } = this.#options;
    const socket = join(sockets, ENTRY_SOCKET);
    rmSync(socket, { force: true });
    this.#starts++;
    onMessage("loading");
    const directory = `--directory-path=${STATE_SERVICE}=${this.#databases}`;
    const child = spawn(
      this.#program,
      [
        "serve",
        // workerd asks for it where a Worker loads dynamic Workers.
        ...(worker.manifest.loaders.length > 0 ? ["--experimental"] : []),
        `--import-path=${worker.directory}`,
        `--control-fd=${CONTROL}`,
        `--socket-addr=${SOCKET}=unix:${socket}`,
        directory,
        this.#config,
      ],
      // Its own process group, so that Ctrl-C in a terminal leaves its end to this process. It needs no environment.
      { detached: true, stdio: ["ignore", "pipe", "pipe", "pipe"], env: {} },
    );
    this.#child = child;
    if (child.pid !== undefined) {
      state.noteRuntime(child.pid, directory);
      endWithThisProcess(child, child.pid);
    }
    const [, stdout, stderr, control] = child.stdio;
    onLines(stdout, (line) => log.runtimeLine(line));
    onLines(stderr, (line) => log.runtimeLine(line));
    onLines(control, (line) => {
      if (!line.includes('"listen"')) return;
      this.#starts = 0;
      onMessage("loaded");
    });
    child.on("error", (error) => onEnd(`workerd did not start: ${error.message}`, 1));
    child.on("close", (code, signal) => {
      if (!this.#stopped) void this.#onEnd(signal ?? `exit code ${code}`);
    });
  }

  async #onEnd(how: string): Promise<void> {
    const { log, onMessage, onEnd } = this.#options;
    if (!this.#supervised || this.#starts >= MOST_STARTS) {
      onEnd(`The Worker ended (${how}).`, 1);
      return;
    }
    onMessage("loading");
    log.entry("error", {
      event: "worker_restarted",
      message: `The Worker ended (${how}) and is restarting. Its runs continue where they were.`,
    });
    if (this.#starts > 0) await sleep(PAUSE_MS);
    if (!this.#stopped) this.#launch();
  }

  #limitMemory(most: number): void {
    // One that is starting has no runs yet, and ends the server if it is killed.
    if (!this.#supervised || this.#starts > 0) return;
    const bytes = this.#child?.pid === undefined ? 0 : residentBytes(this.#child.pid);
    if (bytes <= most || this.#stopped || this.#child === undefined) return;
    this.#options.log.entry("warn", {
      event: "memory_limit",
      message: "The Worker takes more memory than --max-memory allows, so it is restarted.",
      bytes,
    });
    signalGroup(this.#child, "SIGKILL");
  }
}

function onLines(output: ChildProcess["stdio"][number], listener: (line: string) => void): void {
  if (output instanceof Readable) createInterface({ input: output }).on("line", listener);
}

/** Kills a process when this one has ended, also when it was killed: the shell's input ends then. */
function endWithThisProcess(child: ChildProcess, pid: number): void {
  const watcher = spawn("/bin/sh", ["-c", `read -r line; kill -9 ${pid}`], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  // Without a shell, the next start on this state ends it.
  watcher.on("error", () => undefined);
  watcher.unref();
  child.on("exit", () => watcher.kill("SIGKILL"));
}

/** The memory of a process as Linux reports it; 0 without such a process. */
export function residentBytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
