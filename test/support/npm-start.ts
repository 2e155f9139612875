import { type ChildProcess, spawn } from "node:child_process";
import { resolve } from "node:path";
import { ownUsers } from "./sandbox-users.ts";

export const ROOT = resolve(import.meta.dirname, "../..");

export interface NpmStartOptions {
  port: number | string;
  /** Where the state is kept. */
  persistTo: string;
  /** Arguments after `npm start --`. */
  args?: string[];
  settings?: Record<string, string>;
  /** The folder of a project; the clone without it. */
  cwd?: string;
  /** Whether a sandbox is started, too. Default false: few tests need one. */
  sandbox?: boolean;
}

/** `npm start` as a user would call it in a terminal: with the processes it starts in a group of its own. */
export class NpmStart implements AsyncDisposable {
  readonly url: string;
  /** Everything printed so far. */
  output = "";
  readonly #child: ChildProcess;
  readonly #closed: Promise<number | null>;
  /** Whether it has ended, and all that it printed has been read. */
  #hasClosed = false;
  #changed = (): void => {};

  constructor({
    port,
    persistTo,
    args = [],
    settings = {},
    cwd = ROOT,
    sandbox = false,
  }: NpmStartOptions) {
    this.url = `http://127.0.0.1:${port}`;
    const { PATH = "", HOME = "" } = process.env;
    this.#child = spawn("npm", ["start", ...(args.length > 0 ? ["--", ...args] : [])], {
      cwd,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH,
        HOME,
        PORT: String(port),
        PERSIST_TO: persistTo,
        ...ownUsers(),
        // No server listens there.
        ...(!sandbox && { SANDBOX_URL: "http://127.0.0.1:9" }),
        ...settings,
      },
    });
    const collect = (text: string): void => {
      this.output += text;
      this.#changed();
    };
    this.#child.stdout?.setEncoding("utf8").on("data", collect);
    this.#child.stderr?.setEncoding("utf8").on("data", collect);
    // A program that cannot be started has an error, then an exit code.
    this.#child.on("error", (error) => collect(error.message));
    this.#closed = new Promise((closed) => {
      this.#child.on("close", (code) => {
        this.#hasClosed = true;
        this.#changed();
        closed(code);
      });
    });
  }

  /** Starts the server and waits until it says that it runs. */
  static async ready(options: NpmStartOptions): Promise<NpmStart> {
    const server = new NpmStart(options);
    await server.until(/Ctrl-C stops it; kill -9 \d+ kills it/);
    return server;
  }

  /** Resolves once the output matches. @throws Error with the output when the program ends before */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.output);
      if (match) return match;
      if (this.#hasClosed) {
        throw new Error(`npm start ended without ${pattern}:\n${this.output}`);
      }
      await new Promise<void>((change) => {
        this.#changed = change;
      });
    }
  }

  /** The process that `npm start` tells to kill. */
  get pid(): string {
    return /kill -9 (\d+)/.exec(this.output)?.[1] ?? "";
  }

  /** What a terminal does on Ctrl-C. Resolves when the program has ended. */
  async interrupt(): Promise<void> {
    this.#signal("SIGINT");
    await this.exit();
  }

  /** Resolves with the exit code. */
  exit(): Promise<number | null> {
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.interrupt();
  }

  #signal(signal: NodeJS.Signals): void {
    process.kill(-(this.#child.pid as number), signal);
  }
}
