import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { endWithUs } from "../support/child.ts";
import { cpuMilliseconds, residentBytes } from "../support/process.ts";

/** The longest start that is waited for: a peer bundles its program first. */
const START_WITHIN_MS = 180_000;
const STOP_WITHIN_MS = 20_000;
const ASK_EVERY_MS = 10;
/** Bytes of its output that are kept for the error of a start. */
const KEPT_OUTPUT = 4_000;

export interface ServerCommand {
  program: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** The address that answers 200 as soon as the server can be used. */
  health: string;
}

/** A server with all processes that it has started. */
export class ServerProcess implements AsyncDisposable {
  /** From the start of the process to the first 200. */
  readonly startMs: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, startMs: number) {
    this.#child = child;
    this.startMs = startMs;
  }

  /** @throws Error with the last lines of its output, if it ends or does not answer */
  static async start({ program, args, cwd, env, health }: ServerCommand): Promise<ServerProcess> {
    const began = performance.now();
    const { PATH = "", HOME = "" } = process.env;
    const child = endWithUs(
      spawn(program, args, { cwd, env: { PATH, HOME, ...env }, stdio: ["ignore", "pipe", "pipe"] }),
    );
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output = (output + text).slice(-KEPT_OUTPUT);
      });
    }
    let failed: string | undefined;
    child.once("error", (error) => (failed = error.message));
    child.once("exit", (code, signal) => (failed = `it ended with ${String(code ?? signal)}`));
    while (!(await answers(health))) {
      if (performance.now() - began > START_WITHIN_MS) failed ??= "it did not answer";
      if (failed !== undefined) {
        child.kill("SIGKILL");
        throw new Error(`${failed}: ${output.trim()}`);
      }
      await sleep(ASK_EVERY_MS);
    }
    return new ServerProcess(child, performance.now() - began);
  }

  /** The ids of the process and of its descendants. */
  get pids(): number[] {
    return withDescendants(this.#child.pid ?? 0);
  }

  /** Bytes that all its processes hold. */
  memory(): number {
    return sum(this.pids.map(residentBytes));
  }

  /** Milliseconds of CPU that all its processes have used. */
  cpu(): number {
    return sum(this.pids.map(cpuMilliseconds));
  }

  /** Stops it as a service manager does. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const pids = this.pids;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    const inTime = await Promise.race([
      ended.then(() => true),
      sleep(STOP_WITHIN_MS, false, { ref: false }),
    ]);
    if (inTime) return;
    for (const pid of pids) process.kill(pid, "SIGKILL");
    await ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    await response.text();
    return response.status === 200;
  } catch {
    return false;
  }
}

function withDescendants(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const parent = parentOf(name);
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const found = [root];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

/** Undefined for a process that has just ended. */
function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name of the program, in parentheses, may contain spaces.
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return undefined;
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, one) => total + one, 0);
}
