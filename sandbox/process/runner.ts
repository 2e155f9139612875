import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdir, writeFile } from "node:fs/promises";
import { constants } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { guardChild } from "../guard.ts";
import type {
  BlockLimits,
  BlockResult,
  BlockRun,
  CodeBlock,
  Runner,
  WorkspaceChange,
} from "../runner.ts";
import type { Interpreter } from "./languages.ts";
import { killAll, MARKER, type ProcessOwner } from "./process-owner.ts";
import { removeTree } from "./remove-tree.ts";
import { removeLeftFiles } from "./shared-directories.ts";
import { Scratch } from "./scratch.ts";
import { INSIDE, type Walls } from "./walls.ts";
import { Watch } from "./watch.ts";

export interface ProcessRunnerOptions {
  /** The directory of the runner, which does not exist yet. */
  directory: string;
  owner: ProcessOwner;
  interpreters: readonly Interpreter[];
  maxProcesses: number;
  /** The `PATH` of the code. */
  path: string;
  /** Namespaces for the blocks, where the machine has them. */
  walls?: Walls;
  /** Called when the runner is closed. */
  onClose: () => void;
}

/** A program to start. */
export interface Program {
  /** Found in the `PATH` of the code. */
  command: string;
  args: readonly string[];
  /** In addition to what all code has. */
  env: Readonly<Record<string, string>>;
  /** Below the workspace. */
  cwd: string | null;
}

/** A program that runs. */
export type ProgramProcess = ChildProcessWithoutNullStreams;

type Ended = Omit<BlockResult, "change">;

const NO_CHANGE: WorkspaceChange = { set: [], removed: [] };

/** Time for the last output after the processes have ended. Later, another process holds the pipe. */
const LAST_OUTPUT_MS = 500;

/** Relative to the workspace, so that error messages do not contain paths of the machine. */
const BLOCK = "../code/block";

const EXIT_CODES = { timeout: 124, cancelled: 125, memory: 137, workspace: 1, crashed: 1 };

/** Runs blocks as processes in a directory. */
export class ProcessRunner implements Runner {
  usable = true;
  readonly #options: ProcessRunnerOptions;
  readonly #scratch: Scratch;

  private constructor(options: ProcessRunnerOptions) {
    this.#options = options;
    this.#scratch = new Scratch(join(options.directory, "workspace"), options.owner.uid);
  }

  static async create(options: ProcessRunnerOptions): Promise<ProcessRunner> {
    const { directory, owner } = options;
    const user = owner.uid ?? -1;
    // Not owned by the user, so that code cannot replace its workspace.
    await mkdir(directory, { mode: 0o710 });
    await mkdir(join(directory, "code"), { mode: 0o750 });
    for (const name of ["workspace", "tmp"]) {
      await mkdir(join(directory, name), { mode: 0o700 });
      await chown(join(directory, name), user, user);
    }
    await chown(join(directory, "code"), -1, user);
    await chown(directory, -1, user);
    return new ProcessRunner(options);
  }

  /** The path of the workspace as code sees it. */
  get workspace(): string {
    return this.#options.walls ? INSIDE.workspace : this.#scratch.path;
  }

  update(change: WorkspaceChange): Promise<void> {
    return this.#scratch.update(change);
  }

  async run(block: CodeBlock, run: BlockRun): Promise<BlockResult> {
    const ended = await this.#execute(block, run);
    if (ended.endedBy === "workspace") this.usable = false;
    if (!this.usable) return { ...ended, change: NO_CHANGE };
    const change = await this.#scratch.changes(run.limits);
    if (change !== undefined) return { ...ended, change };
    this.usable = false;
    return { exitCode: EXIT_CODES.workspace, endedBy: "workspace", change: NO_CHANGE };
  }

  /**
   * Starts a program that speaks over its standard input and output, in place of blocks. It ends when the signal aborts or a
   * limit of memory or files is exceeded.
   */
  startProgram(program: Program, limits: BlockLimits, signal: AbortSignal): ProgramProcess {
    const { owner, directory, walls } = this.#options;
    const { env, cwd } = program;
    const script = limitsScript({ reservesMemory: true }, limits, this.#options, "");
    const shell = ["/bin/sh", "-c", script, "sh", program.command, ...program.args];
    const [file = "", ...args] = [...(walls?.around(directory, cwd ?? "") ?? []), ...shell];
    const environment = this.#environment();
    const child = spawn(file, args, {
      cwd: join(this.#scratch.path, cwd ?? ""),
      // What package managers download to their home must not become files of the session.
      env: { ...environment, HOME: environment["TMPDIR"], ...env, [MARKER]: owner.marker },
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
      ...(owner.uid !== undefined && { uid: owner.uid, gid: owner.uid }),
    });
    guardChild(child, { group: true });
    const run = { limits, signal, onOutput: () => undefined };
    const watch = new Watch({ owner, run, workspace: this.#scratch.path }, () =>
      child.kill("SIGKILL"),
    );
    child.once("exit", () => watch.stop());
    return child;
  }

  /** The changes of a program that has ended; undefined when they exceed a limit, or a process of it survives. */
  async changesOfProgram(limits: BlockLimits): Promise<WorkspaceChange | undefined> {
    return (await killAll(this.#options.owner)) ? this.#scratch.changes(limits) : undefined;
  }

  async close(): Promise<void> {
    this.usable = false;
    const { owner, directory, onClose } = this.#options;
    await killAll(owner);
    await removeTree(directory);
    if (owner.uid !== undefined) await removeLeftFiles(owner.uid);
    onClose();
  }

  async #execute({ language, code }: CodeBlock, run: BlockRun): Promise<Ended> {
    const { directory, interpreters, owner, walls } = this.#options;
    const interpreter = interpreters.find(({ name }) => name === language);
    if (interpreter === undefined) throw new Error(`There is no interpreter for ${language}.`);
    await writeFile(join(directory, "code", "block"), code);
    const script = limitsScript(interpreter, run.limits, this.#options);
    const shell = ["/bin/sh", "-c", script, "sh", ...interpreter.command, BLOCK];
    const [program = "", ...args] = [...(walls?.around(directory) ?? []), ...shell];
    const child = spawn(program, args, {
      cwd: this.#scratch.path,
      env: this.#environment(),
      stdio: ["ignore", "pipe", "ignore"],
      detached: true,
      ...(owner.uid !== undefined && { uid: owner.uid, gid: owner.uid }),
    });
    guardChild(child, { group: true });
    child.stdout.on("data", (bytes: Uint8Array) => run.onOutput(bytes));
    const watch = new Watch({ owner, run, workspace: this.#scratch.path }, () =>
      child.kill("SIGKILL"),
    );
    try {
      const [code_, signal] = (await once(child, "exit")) as Exit;
      const { endedBy } = watch;
      if (endedBy !== undefined) return { exitCode: EXIT_CODES[endedBy], endedBy };
      return { exitCode: code_ ?? 128 + constants.signals[signal ?? "SIGKILL"] };
    } finally {
      watch.stop();
      // Kills processes that the block left. While any survives, its workspace must not be touched.
      if (!(await killAll(owner, child.pid))) this.usable = false;
      await closed(child.stdout);
    }
  }

  /** Contains nothing of the service's own environment, but its PATH. */
  #environment(): Record<string, string> {
    const { directory, walls } = this.#options;
    const { workspace } = this;
    const temporary = walls ? INSIDE.tmp : join(directory, "tmp");
    return {
      PATH: this.#options.path,
      HOME: workspace,
      TMPDIR: temporary,
      // Settings and caches of programs must not become files of the session.
      XDG_CACHE_HOME: temporary,
      XDG_CONFIG_HOME: temporary,
      LANG: "C.UTF-8",
      // Blocks can import modules that earlier blocks wrote; bytecode must not become files of the session.
      PYTHONPATH: workspace,
      PYTHONDONTWRITEBYTECODE: "1",
      PYTHONUNBUFFERED: "1",
      [MARKER]: this.#options.owner.marker,
    };
  }
}

type Exit = [number | null, NodeJS.Signals | null];

/** A shell script that sets limits and then executes its arguments, with errors redirected to standard output. */
function limitsScript(
  { reservesMemory }: Pick<Interpreter, "reservesMemory">,
  { workspaceBytes, memoryBytes }: BlockLimits,
  { owner, maxProcesses }: ProcessRunnerOptions,
  redirect = " 2>&1",
): string {
  const limits = ["ulimit -c 0", `ulimit -f ${Math.ceil(workspaceBytes / 512)}`];
  // Address space is larger than resident memory, which is watched.
  if (!reservesMemory) limits.push(`ulimit -v ${Math.ceil((2 * memoryBytes) / 1024)}`);
  // Counts all processes of the user, so the user must be the session's own. Shells use different letters.
  if (owner.uid !== undefined)
    limits.push(`{ ulimit -u ${maxProcesses} || ulimit -p ${maxProcesses}; }`);
  return `{ ${limits.join("; ")}; } 2>/dev/null; exec "$@"${redirect}`;
}

/** Resolves when all output is read. */
async function closed(stream: Readable): Promise<void> {
  if (stream.closed) return;
  const late = setTimeout(() => stream.destroy(), LAST_OUTPUT_MS);
  await once(stream, "close");
  clearTimeout(late);
}
