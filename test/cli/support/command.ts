import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { ROOT } from "../../support/npm-start.ts";

const PROGRAM = join(ROOT, "src/cli/bin.ts");

export interface CommandOptions {
  /** The server's URL. */
  url?: string;
  env?: Record<string, string>;
  cwd?: string;
  /** The file of the program; that of the clone without it. */
  program?: string;
  /** What is on the standard input; nothing without it. */
  input?: string;
  /** Whether standard input and output are a terminal. */
  terminal?: boolean;
}

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** The program `troupe` in a process of its own. */
export class RunningCommand {
  /** Printed so far; in a terminal both outputs, without the control of the cursor. */
  stdout = "";
  stderr = "";
  readonly #child: ChildProcess;
  readonly #closed: Promise<Ended>;
  /** Whether it has ended, and all that it printed has been read. */
  #hasClosed = false;
  #changed = (): void => {};

  constructor(args: readonly string[], options: CommandOptions = {}) {
    const { url, env = {}, cwd = ROOT, program: file = PROGRAM, input, terminal = false } = options;
    const { PATH = "", HOME = "" } = process.env;
    const command = [process.execPath, file, ...args];
    const [program = "", ...rest] = terminal ? inTerminal(command) : command;
    this.#child = spawn(program, rest, {
      cwd,
      stdio: ["pipe", "pipe", "pipe"],
      env: {
        PATH,
        HOME,
        TERM: "xterm",
        NO_COLOR: "1",
        ...(url !== undefined && { TROUPE_URL: url }),
        ...env,
      },
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.stdout += terminal ? withoutCursor(text) : text;
      this.#changed();
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
      this.#changed();
    });
    if (!terminal) this.#child.stdin?.end(input ?? "");
    this.#closed = new Promise((ended) => {
      this.#child.on("close", (code) => {
        this.#hasClosed = true;
        this.#changed();
        ended({ code, stdout: this.stdout, stderr: this.stderr });
      });
    });
  }

  /** Types into the terminal. */
  type(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  /** Resolves once the pattern was printed. @throws Error when the program ends without it */
  async until(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.stdout + this.stderr)) {
      if (this.#hasClosed) {
        throw new Error(`ended without ${pattern}:\n${this.stdout}${this.stderr}`);
      }
      await new Promise<void>((change) => {
        this.#changed = change;
      });
    }
  }

  /** What Ctrl-C does outside of a terminal. */
  interrupt(): void {
    this.#child.kill("SIGINT");
  }

  /** Ends it as a crash does. */
  kill(): void {
    this.#child.kill("SIGKILL");
  }

  end(): Promise<Ended> {
    return this.#closed;
  }
}

/** Runs a command to its end. */
export function troupe(args: readonly string[], options?: CommandOptions): Promise<Ended> {
  return new RunningCommand(args, options).end();
}

/** The values of `--json`. */
export function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

function withoutCursor(text: string): string {
  return stripVTControlCharacters(text).replaceAll("\r", "");
}

/** The same command in a pseudo-terminal, by script(1) of util-linux. */
function inTerminal(command: readonly string[]): string[] {
  const quoted = command.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ");
  return ["script", "-qefc", quoted, "/dev/null"];
}
