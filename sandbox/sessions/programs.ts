import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { busy, invalid, ProblemError } from "../problem.ts";
import type { ProcessIsolation } from "../process/isolation.ts";
import type { ProcessRunner, Program, ProgramProcess } from "../process/runner.ts";
import type { BlockLimits } from "../runner.ts";
import type { Sessions } from "./sessions.ts";

const MAX_PER_SESSION = 4;

/** Bytes of the end of what a program writes to its standard error. */
const MAX_STDERR = 4_000;

/** Bytes of a line. */
const MAX_LINE = 16_000_000;

/** A timer that is set to more than this rings at once. */
const FOREVER_MS = 2 ** 31 - 1;

export interface ProgramsOptions {
  /** Undefined where programs may not run. */
  isolation: ProcessIsolation | undefined;
  sessions: Sessions;
  maxPrograms: number;
  memoryBytes: number;
  workspaceBytes: number;
  workspaceFiles: number;
  log: (error: unknown) => void;
}

/** How a program ended. */
export interface ProgramExit {
  /** Null when a signal ended it. */
  exit_code: number | null;
  /** The last part of its standard error. */
  stderr: string;
}

/**
 * Programs of MCP servers. Each works in a copy of its session's workspace, made when it starts; its files become files of the
 * session when it ends.
 */
export class Programs {
  readonly #options: ProgramsOptions;
  readonly #running = new Map<string, RunningProgram>();
  /** Programs that are being started. */
  #starting = 0;

  constructor(options: ProgramsOptions) {
    this.#options = options;
  }

  /** @throws ProblemError 422 where programs may not run, 429 when too many do */
  async start(session: string, program: Program): Promise<RunningProgram> {
    const { isolation, sessions } = this.#options;
    if (isolation === undefined) {
      throw new ProblemError(
        422,
        "mcp_not_available",
        "This sandbox does not start programs of MCP servers, because it has no isolated processes. Run it with SANDBOX_ISOLATION=process in a container; on a machine whose programs they may be, set SANDBOX_MCP=1.",
      );
    }
    this.#admit(session);
    this.#starting++;
    try {
      const set = await sessions.snapshot(session);
      const runner = await isolation.runner();
      const running = new RunningProgram(randomUUID(), session, runner.workspace);
      try {
        await runner.update({ set, removed: [] });
        running.begin(runner.startProgram(program, this.#limits, running.signal));
      } catch (error) {
        await runner.close();
        throw error;
      }
      this.#running.set(running.id, running);
      running.over = this.#finish(running, runner);
      return running;
    } finally {
      this.#starting--;
    }
  }

  /** @throws ProblemError 404 */
  find(session: string, id: string): RunningProgram {
    const running = this.#running.get(id);
    if (running?.session === session) return running;
    throw new ProblemError(404, "no_such_program", "No program with this id runs in the session.");
  }

  /** Ends the programs of a session that is deleted, and forgets their files. */
  async endSession(session: string): Promise<void> {
    const ended = [...this.#running.values()].filter((one) => one.session === session);
    for (const running of ended) running.discarded = true;
    await Promise.all(ended.map((running) => running.end()));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#running.values()].map((running) => running.end()));
  }

  /** Stores the files of a program that has ended. */
  async #finish(running: RunningProgram, runner: ProcessRunner): Promise<void> {
    try {
      await running.exited;
      const change = await runner.changesOfProgram(this.#limits);
      if (change !== undefined && !running.discarded) {
        await this.#options.sessions.merge(running.session, change);
      }
    } catch (error) {
      this.#options.log(error);
    } finally {
      this.#running.delete(running.id);
      await runner.close();
    }
  }

  get #limits(): BlockLimits {
    const { memoryBytes, workspaceBytes, workspaceFiles } = this.#options;
    return { timeoutMs: FOREVER_MS, memoryBytes, workspaceBytes, workspaceFiles };
  }

  #admit(session: string): void {
    const all = this.#running.size + this.#starting;
    if (all >= this.#options.maxPrograms)
      throw busy("too_many_programs", `${all} programs run already.`, 10);
    const own = [...this.#running.values()].filter((one) => one.session === session).length;
    if (own >= MAX_PER_SESSION)
      throw busy("too_many_programs", `${own} programs of this session run already.`, 10);
  }
}

/** A program that has been started. */
export class RunningProgram {
  readonly id: string;
  readonly session: string;
  /** The path of its workspace as it sees it. */
  readonly workspace: string;
  readonly #ended = new AbortController();
  #child: ProgramProcess | undefined;
  #stderr = "";
  /** Resolves when the program has ended. */
  exited: Promise<ProgramExit> = Promise.reject(new Error("the program was not started"));
  /** Resolves when its files are stored, too. */
  over: Promise<void> = Promise.resolve();
  /** Whether its files are not wanted any more. */
  discarded = false;

  constructor(id: string, session: string, workspace: string) {
    this.id = id;
    this.session = session;
    this.workspace = workspace;
    this.exited.catch(() => undefined);
  }

  /** Aborts when the program has to end. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  begin(child: ProgramProcess): void {
    this.#child = child;
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-MAX_STDERR);
    });
    // A program that has ended cannot be written to; its exit says so.
    child.stdin.on("error", () => undefined);
    this.exited = once(child, "close").then(([code]) => ({
      exit_code: code as number | null,
      stderr: this.#stderr,
    }));
    this.exited.catch(() => undefined);
  }

  /** Lines of its standard output, read as fast as they are asked for. */
  async *lines(): AsyncGenerator<string, void, void> {
    let rest = "";
    const { stdout } = this.#started;
    stdout.setEncoding("utf8");
    for await (const text of stdout as AsyncIterable<string>) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.trim() !== "") yield line;
      if (rest.length > MAX_LINE) return void this.end();
    }
  }

  /** Writes a line. Resolves when the program's input has room for more. */
  async send(line: string): Promise<void> {
    if (line.includes("\n")) throw invalid("invalid_body", "The message must be one line.");
    const { stdin } = this.#started;
    if (!stdin.write(`${line}\n`)) {
      await Promise.race([once(stdin, "drain"), this.exited]).catch(() => undefined);
    }
  }

  async end(): Promise<void> {
    this.#ended.abort();
    await this.over;
  }

  get #started(): ProgramProcess {
    if (this.#child === undefined) throw new Error("the program was not started");
    return this.#child;
  }
}
