import {
  type ChildProcess,
  type ChildProcessByStdio,
  type ChildProcessWithoutNullStreams,
  spawn,
} from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { chown, mkdir, readdir, writeFile } from "node:fs/promises";
import { constants } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { guardChild } from "../guard.ts";
import type {
  BlockLimits,
  BlockResult,
  BlockRun,
  CodeBlock,
  EndedBy,
  Folder,
  Runner,
  WorkspaceChange,
} from "../runner.ts";
import type { Cgroup } from "./cgroups.ts";
import type { Interpreter } from "./languages.ts";
import { killAll, MARKER, type ProcessOwner } from "./process-owner.ts";
import { removeTree } from "./remove-tree.ts";
import { removeLeftFiles } from "./shared-directories.ts";
import { Scratch } from "./scratch.ts";
import { INSIDE, type Walls } from "./walls.ts";
import { leavesTooMuch, Watch, type Watched } from "./watch.ts";

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
  /** The limits of memory and processes, where the machine has cgroups. */
  cgroup?: Cgroup;
  /** The file with the filter of system calls behind walls. */
  filter?: string;
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
export interface ProgramProcess {
  child: ChildProcessWithoutNullStreams;
  /** Why it was ended, if the service or the kernel did it because of a limit. */
  endedBy: () => EndedBy | undefined;
}

type Ended = Omit<BlockResult, "change">;

const NO_CHANGE: WorkspaceChange = { set: [], removed: [] };

/** Time for the last output after the processes have ended. Later, another process holds the pipe. */
const LAST_OUTPUT_MS = 500;

/** Relative to the workspace, so that error messages do not contain paths of the machine. */
const BLOCK = "../code/block";

/** The file descriptors of a process that are not its input, output and errors. */
const CGROUP_PIPE = 3;
const ENVIRONMENT_PIPE = 4;
const FILTER = 5;

/** Executes its arguments when a line comes: the process is then in its cgroup. */
const WHEN_IN_CGROUP = [
  "/bin/sh",
  "-c",
  `read -r _ <&${CGROUP_PIPE} || exit 1; exec ${CGROUP_PIPE}<&-; exec "$@"`,
  "sh",
];

const EXIT_CODES = {
  timeout: 124,
  cancelled: 125,
  memory: 137,
  workspace: 1,
  temporary: 1,
  crashed: 1,
};

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
    for (const name of ["workspace", "tmp", "shm"]) {
      await mkdir(join(directory, name), { mode: 0o700 });
      await chown(join(directory, name), user, user);
    }
    await mkdir(join(directory, "folders"), { mode: 0o755 });
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

  /** The files belong to the service, so that code that runs as another user cannot change them, also without walls. */
  async mount(folders: readonly Folder[]): Promise<void> {
    const root = join(this.#options.directory, "folders");
    for (const name of await readdir(root)) await removeTree(join(root, name));
    for (const { name, entries } of folders) {
      await mkdir(join(root, name), { mode: 0o755 });
      for (const entry of entries) {
        const path = join(root, name, entry.path);
        if (entry.type === "directory") await mkdir(path, { mode: 0o755 });
        if (entry.type === "file") await writeFile(path, entry.content, { mode: 0o444 });
      }
    }
  }

  async run(block: CodeBlock, run: BlockRun): Promise<BlockResult> {
    const ended = await this.#execute(block, run);
    if (ended.endedBy === "workspace") this.usable = false;
    if (!this.usable) return { ...ended, change: NO_CHANGE };
    const change = await this.#scratch.changes(run.limits);
    if (change !== undefined && (await leavesTooMuch({ ...this.#watched, run }))) {
      // They go with the runner.
      this.usable = false;
      if (ended.endedBy !== undefined) return { ...ended, change };
      return { exitCode: EXIT_CODES.temporary, endedBy: "temporary", change };
    }
    if (change !== undefined) return { ...ended, change };
    this.usable = false;
    return { exitCode: EXIT_CODES.workspace, endedBy: "workspace", change: NO_CHANGE };
  }

  /**
   * Starts a program that speaks over its standard input and output, in place of blocks. It ends when the signal aborts or a
   * limit of memory or files is exceeded.
   */
  startProgram(program: Program, limits: BlockLimits, signal: AbortSignal): ProgramProcess {
    const { cgroup } = this.#options;
    const { command, args, env, cwd } = program;
    const memoryKills = cgroup?.memoryKills();
    const script = `${limitsScript({ reservesMemory: true }, limits, this.#options)}; cd -- "./$1" || exit 1; shift; exec "$@"`;
    const child = this.#start(
      ["/bin/sh", "-c", script, "sh", cwd ?? "", command, ...args],
      // What package managers download to their home must not become files of the session.
      { stdio: ["pipe", "pipe", "pipe"], env: { HOME: this.#temporary, ...env } },
      limits,
    ) as ChildProcessWithoutNullStreams;
    const run = { limits, signal, onOutput: () => undefined };
    const watch = this.#watch(run, child);
    child.once("exit", () => watch.stop());
    const killed = (): boolean => cgroup !== undefined && cgroup.memoryKills() !== memoryKills;
    return { child, endedBy: () => watch.endedBy ?? (killed() ? "memory" : undefined) };
  }

  /** The changes of a program that has ended; undefined when they exceed a limit, or a process of it survives. */
  async changesOfProgram(limits: BlockLimits): Promise<WorkspaceChange | undefined> {
    return (await killAll(this.#options.owner)) ? this.#scratch.changes(limits) : undefined;
  }

  async close(): Promise<void> {
    this.usable = false;
    const { owner, directory, cgroup, onClose } = this.#options;
    await killAll(owner);
    await cgroup?.remove();
    await removeTree(directory);
    if (owner.uid !== undefined) await removeLeftFiles(owner.uid);
    onClose();
  }

  async #execute({ language, code }: CodeBlock, run: BlockRun): Promise<Ended> {
    const { directory, interpreters, owner, cgroup } = this.#options;
    const interpreter = interpreters.find(({ name }) => name === language);
    if (interpreter === undefined) throw new Error(`There is no interpreter for ${language}.`);
    await writeFile(join(directory, "code", "block"), code);
    const script = `${limitsScript(interpreter, run.limits, this.#options)}; exec "$@" 2>&1`;
    const memoryKills = cgroup?.memoryKills();
    const child = this.#start(
      ["/bin/sh", "-c", script, "sh", ...interpreter.command, BLOCK],
      { stdio: ["ignore", "pipe", "ignore"], env: run.env ?? {} },
      run.limits,
    ) as ChildProcessByStdio<null, Readable, null>;
    child.stdout.on("data", (bytes: Uint8Array) => run.onOutput(bytes));
    const watch = this.#watch(run, child);
    try {
      const [code_, signal] = (await once(child, "exit")) as Exit;
      const killed = cgroup?.memoryKills() === memoryKills ? undefined : "memory";
      const endedBy = watch.endedBy ?? killed;
      if (endedBy !== undefined) return { exitCode: EXIT_CODES[endedBy], endedBy };
      return { exitCode: code_ ?? 128 + constants.signals[signal ?? "SIGKILL"] };
    } finally {
      watch.stop();
      // Kills processes that the block left. While any survives, its workspace must not be touched.
      if (!(await killAll(owner, child.pid))) this.usable = false;
      await closed(child.stdout);
    }
  }

  /**
   * Starts a command behind the walls. What is outside of them has nothing of its environment: a component could have any
   * program there run code.
   *
   * @param command a script of `limitsScript`, which reads the environment
   * @param options.env is added to what all code has
   */
  #start(
    command: readonly string[],
    { stdio, env }: { stdio: ("pipe" | "ignore")[]; env: Program["env"] },
    { memoryBytes }: BlockLimits,
  ): ChildProcess {
    const { owner, directory, walls, cgroup, filter, path } = this.#options;
    cgroup?.limitMemory(memoryBytes);
    const filtered = walls && filter ? openSync(filter, "r") : undefined;
    const [file = "", ...args] = [
      ...(cgroup ? WHEN_IN_CGROUP : []),
      ...(walls?.around(directory, filtered === undefined ? undefined : FILTER) ?? []),
      ...command,
    ];
    const child = spawn(file, args, {
      cwd: this.#scratch.path,
      env: { PATH: path, [MARKER]: owner.marker },
      stdio: [...stdio, cgroup ? "pipe" : "ignore", "pipe", filtered ?? "ignore"],
      detached: true,
      ...(owner.uid !== undefined && { uid: owner.uid, gid: owner.uid }),
    });
    if (filtered !== undefined) closeSync(filtered);
    guardChild(child, { group: true });
    if (child.pid === undefined) return child;
    cgroup?.add(child.pid);
    if (cgroup) send(child, CGROUP_PIPE, "\n");
    send(child, ENVIRONMENT_PIPE, exports({ ...this.#environment(), ...env }));
    return child;
  }

  get #watched(): Omit<Watched, "run"> {
    const { owner, cgroup, directory } = this.#options;
    return {
      owner,
      workspace: this.#scratch.path,
      tmp: join(directory, "tmp"),
      shm: join(directory, "shm"),
      watchesMemory: cgroup === undefined,
    };
  }

  #watch(run: BlockRun, child: ChildProcess): Watch {
    return new Watch({ ...this.#watched, run }, () => child.kill("SIGKILL"));
  }

  get #temporary(): string {
    return this.#options.walls ? INSIDE.tmp : join(this.#options.directory, "tmp");
  }

  /** What all code has. It contains nothing of the service's own environment, but its PATH. */
  #environment(): Record<string, string> {
    const { workspace } = this;
    const temporary = this.#temporary;
    return {
      HOME: workspace,
      TMPDIR: temporary,
      SANDBOX_FOLDERS: this.#options.walls
        ? INSIDE.folders
        : join(this.#options.directory, "folders"),
      // Settings and caches of programs must not become files of the session.
      XDG_CACHE_HOME: temporary,
      XDG_CONFIG_HOME: temporary,
      LANG: "C.UTF-8",
      // Blocks can import modules that earlier blocks wrote; bytecode must not become files of the session.
      PYTHONPATH: workspace,
      PYTHONDONTWRITEBYTECODE: "1",
      PYTHONUNBUFFERED: "1",
    };
  }
}

type Exit = [number | null, NodeJS.Signals | null];

/** Writes to a further pipe of a process, which may have ended. */
function send(child: ChildProcess, pipe: number, text: string): void {
  const writable = child.stdio[pipe] as Writable;
  writable.on("error", () => undefined);
  writable.end(text);
}

/** A shell script that sets environment variables. */
function exports(env: Readonly<Record<string, string>>): string {
  return Object.entries(env)
    .map(([name, value]) => `export ${name}='${value.replaceAll("'", String.raw`'\''`)}'\n`)
    .join("");
}

/** A shell script that sets limits and the environment. */
function limitsScript(
  { reservesMemory }: Pick<Interpreter, "reservesMemory">,
  { workspaceBytes, memoryBytes }: BlockLimits,
  { owner, maxProcesses }: ProcessRunnerOptions,
): string {
  const limits = ["ulimit -c 0", `ulimit -f ${Math.ceil(workspaceBytes / 512)}`];
  // Address space is larger than resident memory, which is watched.
  if (!reservesMemory) limits.push(`ulimit -v ${Math.ceil((2 * memoryBytes) / 1024)}`);
  // Counts all processes of the user, so the user must be the session's own. Shells use different letters.
  if (owner.uid !== undefined)
    limits.push(`{ ulimit -u ${maxProcesses} || ulimit -p ${maxProcesses}; }`);
  const environment = `eval "$(cat <&${ENVIRONMENT_PIPE})"; exec ${ENVIRONMENT_PIPE}<&-`;
  return `{ ${limits.join("; ")}; } 2>/dev/null; ${environment}`;
}

/** Resolves when all output is read. */
async function closed(stream: Readable): Promise<void> {
  if (stream.closed) return;
  const late = setTimeout(() => stream.destroy(), LAST_OUTPUT_MS);
  await once(stream, "close");
  clearTimeout(late);
}
