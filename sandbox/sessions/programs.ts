import { endOf } from "../../src/core/cut.ts";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { busy, invalid, ProblemError } from "../problem.ts";
import type { ProcessIsolation } from "../process/isolation.ts";
import type { ProcessRunner, Program, ProgramProcess } from "../process/runner.ts";
import type { BlockLimits, EndedBy } from "../runner.ts";
import type { Sessions } from "./sessions.ts";
import { terminationNote } from "./termination.ts";

const MAX_PER_SESSION = 4;

/** Bytes of the end of what a program writes to its standard error. */
const MAX_STDERR = 4_000;

/** Bytes of a line. */
const MAX_LINE = 16_000_000;

/** How a program ends that got SIGKILL: by itself, or behind the walls. */
const KILLED: ReadonlySet<number | null> = new Set([null, 137]);

const BY_KERNEL =
  "The program was killed, and not by the sandbox: the kernel does this when the machine, or the container of the sandbox, has no memory left.";

/** A timer that is set to more than this rings at once. */
const FOREVER_MS = 2 ** 31 - 1;

export interface ProgramsOptions {
  /** Undefined where programs may not run. */
  isolation: ProcessIsolation | undefined;
  sessions: Sessions;
  maxPrograms: number;
  /** For each program, its processes and their threads. A browser has more than a hundred. */
  maxProgramProcesses: number;
  memoryBytes: number;
  workspaceBytes: number;
  workspaceFiles: number;
  temporaryBytes: number;
  log: (error: unknown) => void;
}

/** How a program ended. */
export interface ProgramExit {
  /** Null when a signal ended it. */
  exit_code: number | null;
  /** The last part of its standard error. */
  stderr: string;
  /** Why the service or the kernel ended it. */
  reason?: string;
}

/**
 * Programs of MCP servers. Each works in a copy of its session's workspace, made when it starts; its files become files of the
 * session when it ends.
 */
export class Programs {
  readonly #options: ProgramsOptions;
  readonly #running = new Map<string, RunningProgram>();
  /** The sessions of programs that are being started. */
  readonly #starting: string[] = [];

  constructor(options: ProgramsOptions) {
    this.#options = options;
  }

  /** @throws ProblemError 422 where programs may not run, 429 when too many do */
  async start(session: string, program: Program): Promise<RunningProgram> {
    const { isolation, sessions, maxProgramProcesses } = this.#options;
    if (isolation === undefined) {
      throw new ProblemError(
        422,
        "mcp_not_available",
        "This sandbox does not start programs of MCP servers, because its processes are not isolated from the machine. Run it in a container with SANDBOX_ISOLATION=process; on a machine whose programs they may be, set SANDBOX_MCP=1.",
      );
    }
    this.#admit(session);
    this.#starting.push(session);
    try {
      await this.#makeRoom(session);
      const set = await sessions.snapshot(session);
      const runner = await isolation.runner(maxProgramProcesses);
      const running = new RunningProgram(
        randomUUID(),
        session,
        runner.workspace,
        isolation.network,
      );
      try {
        await runner.update({ set, removed: [] });
        running.begin(runner.startProgram(program, this.#limits, running.signal), this.#limits);
      } catch (error) {
        await runner.close();
        throw error;
      }
      this.#running.set(running.id, running);
      running.over = this.#finish(running, runner);
      return running;
    } finally {
      this.#starting.splice(this.#starting.indexOf(session), 1);
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
    const { memoryBytes, workspaceBytes, workspaceFiles, temporaryBytes } = this.#options;
    const timeoutMs = FOREVER_MS;
    return { timeoutMs, memoryBytes, workspaceBytes, workspaceFiles, temporaryBytes };
  }

  /** @throws ProblemError 429 */
  #admit(session: string): void {
    const own = this.#count(session);
    if (own >= MAX_PER_SESSION)
      throw busy("too_many_programs", `${own} programs of this session run already.`, 10);
    if (this.#all < this.#options.maxPrograms || this.#dispensable(own) !== undefined) return;
    throw busy("too_many_programs", `${this.#all} programs run already.`, 10);
  }

  /** Ends a program of a session that has more than this one, where all places are taken. */
  async #makeRoom(session: string): Promise<void> {
    // The one that is being started counts already.
    if (this.#all <= this.#options.maxPrograms) return;
    const program = this.#dispensable(this.#count(session) - 1);
    if (program === undefined) throw busy("too_many_programs", "All places are taken.", 10);
    program.makeRoom();
    await program.over;
  }

  /**
   * The program that has waited for a request for the longest time, in sessions that have at least two more than `own`.
   */
  #dispensable(own: number): RunningProgram | undefined {
    return [...this.#running.values()]
      .filter((one) => one.isIdle && this.#count(one.session) >= own + 2)
      .toSorted((a, b) => a.usedAt - b.usedAt)[0];
  }

  get #all(): number {
    return this.#running.size + this.#starting.length;
  }

  #count(session: string): number {
    const running = [...this.#running.values()].filter((one) => one.session === session);
    return running.length + this.#starting.filter((one) => one === session).length;
  }
}

/** A program that has been started. */
export class RunningProgram {
  readonly id: string;
  readonly session: string;
  /** The path of its workspace as it sees it. */
  readonly workspace: string;
  /** Whether it has a network. */
  readonly network: boolean;
  readonly #ended = new AbortController();
  /** The ids of requests that it has not answered. */
  readonly #asked = new Set<unknown>();
  #madeRoom = false;
  #child: ProgramProcess["child"] | undefined;
  #stderr = "";
  /** When it was last written to or read from. */
  usedAt = performance.now();
  /** Resolves when the program has ended. */
  exited: Promise<ProgramExit> = Promise.reject(new Error("the program was not started"));
  /** Resolves when its files are stored, too. */
  over: Promise<void> = Promise.resolve();
  /** Whether its files are not wanted any more. */
  discarded = false;

  constructor(id: string, session: string, workspace: string, network: boolean) {
    this.id = id;
    this.session = session;
    this.workspace = workspace;
    this.network = network;
    this.exited.catch(() => undefined);
  }

  /** Aborts when the program has to end. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Whether it waits for a request. */
  get isIdle(): boolean {
    return this.#asked.size === 0 && !this.signal.aborted;
  }

  begin({ child, endedBy }: ProgramProcess, limits: BlockLimits): void {
    this.#child = child;
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = endOf(this.#stderr + text, MAX_STDERR);
    });
    // A program that has ended cannot be written to; its exit says so.
    child.stdin.on("error", () => undefined);
    this.exited = once(child, "close").then(
      ([code]) => {
        const exit_code = code as number | null;
        const reason = this.#reason(endedBy(), limits, exit_code);
        return { exit_code, stderr: this.#stderr, ...(reason && { reason }) };
      },
      (error: Error) => ({
        exit_code: null,
        stderr: `The program did not start: ${error.message}`,
      }),
    );
  }

  /** Lines of its standard output, read as fast as they are asked for. */
  async *lines(): AsyncGenerator<string, void, void> {
    let rest = "";
    const { stdout } = this.#started;
    stdout.setEncoding("utf8");
    for await (const text of stdout as AsyncIterable<string>) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line.trim() === "") continue;
        this.#note(line, "result", "error");
        yield line;
      }
      if (rest.length > MAX_LINE) return void this.end();
    }
  }

  /** Writes a line. Resolves when the program's input has room for more. */
  async send(line: string): Promise<void> {
    if (line.includes("\n")) throw invalid("invalid_body", "The message must be one line.");
    this.#note(line, "method");
    const { stdin } = this.#started;
    if (!stdin.write(`${line}\n`)) {
      await Promise.race([once(stdin, "drain"), this.exited]).catch(() => undefined);
    }
  }

  async end(): Promise<void> {
    this.#ended.abort();
    await this.over;
  }

  /** Ends it, because a session without programs needs its place. */
  makeRoom(): void {
    this.#madeRoom = true;
    this.#ended.abort();
  }

  /** Notes that a message went by: a request, which has one of these keys and an id, or the answer to one. */
  #note(line: string, ...keys: readonly string[]): void {
    this.usedAt = performance.now();
    const message = parse(line);
    if (message?.["id"] === undefined || !keys.some((key) => key in message)) return;
    if (keys.includes("method")) this.#asked.add(message["id"]);
    else this.#asked.delete(message["id"]);
  }

  #reason(
    endedBy: EndedBy | undefined,
    limits: BlockLimits,
    exitCode: number | null,
  ): string | undefined {
    if (this.#madeRoom) return "The program was ended: other sessions need its place.";
    if (endedBy === undefined && KILLED.has(exitCode)) return BY_KERNEL;
    if (endedBy === undefined || endedBy === "cancelled") return undefined;
    const note = terminationNote(endedBy, { ...limits, maxOutputBytes: 0 });
    const setting =
      endedBy === "memory" ? " The sandbox's SANDBOX_MEMORY_BYTES sets this limit." : "";
    return note.replace("code", "program") + setting;
  }

  get #started(): ProgramProcess["child"] {
    if (this.#child === undefined) throw new Error("the program was not started");
    return this.#child;
  }
}

/** What a line says, if it is an object. */
function parse(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
