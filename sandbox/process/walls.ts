import { execFile } from "node:child_process";
import { accessSync, constants, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { SettingsError } from "../settings.ts";

/** Where a block finds its directories behind the walls. */
export const INSIDE = {
  workspace: "/workspace",
  code: "/code",
  tmp: "/tmp",
  folders: "/folders",
} as const;

/** Where shared memory is, behind the walls and on the machine. */
export const SHARED_MEMORY = "/dev/shm";

/** The machine's directories that are visible, read-only. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt"];

/** Waits before further attempts: a machine under load fails at first. */
const AGAIN_AFTER_MS = [200, 1_000, 3_000];
const PROBE_MS = 20_000;

/** What the kernel says when it forbids something, which no further attempt changes. */
const FORBIDDEN = /not permitted|permission denied|no such file|not supported|unknown option/i;

export interface WallOptions {
  /** Directories with programs. */
  path: readonly string[];
  /** Interpreters, whose libraries are next to them. */
  programs: readonly string[];
  /** Whether code may use the network of the service. */
  network: boolean;
  /** Directories that are visible besides those of the system and of programs. */
  readable: readonly string[];
}

/** Namespaces of its own for each block, made by bubblewrap: users, processes, mounts, IPC, host name and network. */
export class Walls {
  readonly #program: string;
  readonly #options: WallOptions;

  private constructor(program: string, options: WallOptions) {
    this.#program = program;
    this.#options = options;
  }

  /**
   * @param uid the user that runs code; undefined for the user of the service
   * @param mayFall whether code may run without walls on a machine that has them
   * @returns the reason when there are none here
   * @throws SettingsError when the machine has them, but not with these directories
   */
  static async find(
    options: WallOptions,
    uid: number | undefined,
    mayFall: boolean,
  ): Promise<Walls | string> {
    const program = options.path.map((directory) => join(directory, "bwrap")).find(isProgram);
    if (program === undefined) return "bubblewrap (bwrap) is not installed";
    const failure = (more: Partial<WallOptions>): Promise<string | undefined> =>
      new Walls(program, { ...options, ...more }).#failure(uid);

    const plain = { path: [], programs: [], readable: [] };
    const forbidden = await failure(plain);
    if (forbidden !== undefined) return `bubblewrap cannot make namespaces here: ${forbidden}`;
    const walls = new Walls(program, options);
    const broken = await walls.#failure(uid);
    if (broken === undefined) return walls;

    const reason = `bubblewrap makes namespaces here, but not with ${await walls.#culprit(uid)}: ${broken}`;
    if (mayFall) return reason;
    throw new SettingsError(
      `${reason}. The user that runs code must be able to reach the directory: its parents need the permission x for others. SANDBOX_ISOLATION_STRICT=0 starts the service without namespaces: code then sees the whole machine and its network`,
    );
  }

  /**
   * The command in front of another one, to run it in the directories of a runner.
   *
   * @param filter the file descriptor of a filter of system calls
   */
  around(directory: string, filter?: number): string[] {
    const bind = (name: string, inside: string): string[] => [
      "--bind",
      join(directory, name),
      inside,
    ];
    return this.#command([
      "--ro-bind",
      join(directory, "code"),
      INSIDE.code,
      "--ro-bind",
      join(directory, "folders"),
      INSIDE.folders,
      ...bind("workspace", INSIDE.workspace),
      ...bind("tmp", INSIDE.tmp),
      // Its size is watched, which nothing could do with a file system in memory.
      ...bind("shm", SHARED_MEMORY),
      "--chdir",
      INSIDE.workspace,
      ...(filter === undefined ? [] : ["--seccomp", String(filter)]),
    ]);
  }

  /** Why namespaces cannot be made; undefined when they can. */
  async #failure(uid: number | undefined): Promise<string | undefined> {
    const user = uid === undefined ? {} : { uid, gid: uid };
    const [file = "", ...args] = this.#command([]);
    for (const again of [...AGAIN_AFTER_MS, undefined]) {
      try {
        await promisify(execFile)(file, [...args, "/bin/sh", "-c", ":"], {
          ...user,
          cwd: "/",
          env: {},
          timeout: PROBE_MS,
        });
        return undefined;
      } catch (error) {
        const { stderr, killed } = error as { stderr?: string; killed?: boolean };
        const said = stderr?.trim() || (killed ? "it took too long" : String(error));
        if (again === undefined || FORBIDDEN.test(said)) return said;
        await wait(again);
      }
    }
    return undefined;
  }

  /** The directory without which the namespaces can be made. */
  async #culprit(uid: number | undefined): Promise<string> {
    const plain = { ...this.#options, path: [], programs: [], readable: [] };
    for (const directory of [...this.#visible, ...this.#options.readable]) {
      const walls = new Walls(this.#program, { ...plain, readable: [directory] });
      if ((await walls.#failure(uid)) !== undefined) return directory;
    }
    return "the directories of SANDBOX_READABLE";
  }

  get #visible(): string[] {
    const { path, programs } = this.#options;
    // A program and its libraries: `bin/node` and `lib` beside `bin`.
    const prefixes = programs.map((program) => dirname(dirname(realpathSync(program))));
    return [...SYSTEM, ...path, ...prefixes].filter(
      // A program in `~/bin` does not make the home visible.
      (directory, index, all) =>
        directory !== "/" && directory !== homedir() && all.indexOf(directory) === index,
    );
  }

  #command(binds: readonly string[]): string[] {
    const { network, readable } = this.#options;
    const bound = [...this.#visible, ...readable];
    // Mounted after the runner's own directories, which otherwise hide directories below the same paths.
    const below = bound.filter((directory) =>
      Object.values(INSIDE).some((inside) => directory.startsWith(`${inside}/`)),
    );
    const readOnly = (directory: string): string[] => ["--ro-bind-try", directory, directory];
    return [
      this.#program,
      "--unshare-user",
      "--disable-userns",
      "--unshare-pid",
      "--unshare-ipc",
      "--unshare-uts",
      "--unshare-cgroup-try",
      ...(network ? [] : ["--unshare-net"]),
      "--hostname",
      "sandbox",
      "--die-with-parent",
      ...bound.filter((directory) => !below.includes(directory)).flatMap(readOnly),
      "--proc",
      "/proc",
      "--dev",
      "/dev",
      ...binds,
      ...below.flatMap(readOnly),
      // They are in memory, where files of code would count for nothing.
      ...["/dev", "/"].flatMap((directory) => ["--remount-ro", directory]),
      "--",
    ];
  }
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
