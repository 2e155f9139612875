import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./npm-start.ts";
import { ownUsers } from "./sandbox-users.ts";

export interface SandboxOptions {
  /** Where sessions are kept; left out, in a directory that goes with the service. */
  data?: string;
  /** Environment variables of the service. */
  settings?: Record<string, string>;
}

/** What a test asks a sandbox to run. */
export interface ExecuteOptions {
  key?: string;
  timeout?: number;
  signal?: AbortSignal;
}

/** The sandbox service as a process of its own, on a port of its own; with real processes unless the settings say otherwise. */
export class Sandbox implements AsyncDisposable {
  readonly url: string;
  readonly key: string;
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  /** What is the service's alone outside of its data. */
  readonly temporary: string;
  /** The lines that it had printed when it listened. */
  readonly firstLines: readonly string[];

  private constructor(
    child: ChildProcess,
    closed: Promise<unknown>,
    { url, key, temporary, firstLines }: Pick<Sandbox, "url" | "key" | "temporary" | "firstLines">,
  ) {
    this.#child = child;
    this.#closed = closed;
    this.temporary = temporary;
    this.firstLines = firstLines;
    this.url = url;
    this.key = key;
    this.pid = child.pid as number;
  }

  static async start({ data, settings = {} }: SandboxOptions = {}): Promise<Sandbox> {
    const temporary = await mkdtemp(join(tmpdir(), "sandbox-"));
    // As root, code runs as other users, who have to get to where they work.
    await chmod(temporary, 0o711);
    const { PATH = "" } = process.env;
    const env = {
      PATH,
      TMPDIR: temporary,
      SANDBOX_PORT: "0",
      SANDBOX_KEY: "a-key-for-tests-only",
      SANDBOX_DATA: data ?? join(temporary, "data"),
      SANDBOX_ISOLATION: "process",
      SANDBOX_FORCE_PROCESS: "1",
      ...ownUsers(),
      ...settings,
    };
    // Lines of two pipes would not come in the order in which they were printed.
    const inOnePipe = [
      "-c",
      'exec "$0" "$@" 2>&1',
      process.execPath,
      join(ROOT, "sandbox/main.ts"),
    ];
    const child = spawn("/bin/sh", inOnePipe, {
      cwd: ROOT,
      env,
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const closed = once(child, "close");
    const { url, firstLines } = await listening(child, closed);
    return new Sandbox(child, closed, { url, key: env.SANDBOX_KEY, temporary, firstLines });
  }

  /** A request with the key. */
  request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (this.key !== "") headers.set("authorization", `Bearer ${this.key}`);
    return fetch(`${this.url}${path}`, { ...init, headers });
  }

  /** Asks to run blocks, each a language and code. */
  execute(
    session: string,
    blocks: readonly (readonly [language: string, code: string])[],
    { key, timeout, signal, ...init }: ExecuteOptions & { headers?: Record<string, string> } = {},
  ): Promise<Response> {
    return this.request(`/v1/sessions/${session}/execute`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(key !== undefined && { "idempotency-key": key }),
        ...init.headers,
      },
      body: JSON.stringify({
        code_blocks: blocks.map(([language, code]) => ({ language, code })),
        ...(timeout !== undefined && { timeout_seconds: timeout }),
      }),
      ...(signal !== undefined && { signal }),
    });
  }

  /** Ends it without notice. Resolves when it has ended, and everything that prints where it does. */
  async kill(): Promise<void> {
    this.#signal("SIGKILL");
    await this.#closed;
    await rm(this.temporary, { recursive: true });
  }

  /** Asks it to end. Resolves when it has ended. */
  async stop(): Promise<void> {
    this.#signal("SIGTERM");
    await this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await rm(this.temporary, { recursive: true, force: true });
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#child.exitCode === null && this.#child.signalCode === null)
      process.kill(this.pid, signal);
  }
}

/** Where the service says that it listens. @throws Error with its output when it ends before */
async function listening(
  child: ChildProcess,
  closed: Promise<unknown>,
): Promise<Pick<Sandbox, "url" | "firstLines">> {
  let output = "";
  const listens = new Promise<Pick<Sandbox, "url" | "firstLines">>((resolve) => {
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      const url = /listening on (http:\S+)\n/.exec(output)?.[1];
      if (url !== undefined) resolve({ url, firstLines: output.trimEnd().split("\n") });
    });
  });
  const ended = closed.then(() => {
    throw new Error(`The sandbox ended before it listened:\n${output}`);
  });
  return Promise.race([listens, ended]);
}
