import { execFile } from "node:child_process";
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, posix } from "node:path";
import { promisify } from "node:util";

/** Where a block finds its directories behind the walls. */
export const INSIDE = { workspace: "/workspace", code: "/code", tmp: "/tmp" } as const;

/** Of the machine, read-only. Everything else of it is not there. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt"];

const PROBE_MS = 10_000;

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

  /** @param uid the user that runs code; undefined for the user of the service @returns the reason when there are none here */
  static async find(options: WallOptions, uid: number | undefined): Promise<Walls | string> {
    const user = uid === undefined ? {} : { uid, gid: uid };
    for (const directory of options.path) {
      const program = join(directory, "bwrap");
      const walls = new Walls(program, options);
      const [file = "", ...args] = walls.#command([]);
      try {
        await promisify(execFile)(file, [...args, "/bin/sh", "-c", ":"], {
          ...user,
          cwd: "/",
          timeout: PROBE_MS,
        });
        return walls;
      } catch (error) {
        const { code, stderr } = error as { code?: unknown; stderr?: string };
        if (code === "ENOENT") continue;
        return `bubblewrap cannot make namespaces here: ${stderr?.trim() || String(error)}`;
      }
    }
    return "bubblewrap (bwrap) is not installed";
  }

  /**
   * The command in front of another one, to run it in the directories of a runner.
   *
   * @param cwd below the workspace
   */
  around(directory: string, cwd = ""): string[] {
    return this.#command([
      "--ro-bind",
      join(directory, "code"),
      INSIDE.code,
      "--bind",
      join(directory, "workspace"),
      INSIDE.workspace,
      "--bind",
      join(directory, "tmp"),
      INSIDE.tmp,
      "--chdir",
      posix.join(INSIDE.workspace, cwd),
    ]);
  }

  #command(binds: readonly string[]): string[] {
    const { path, programs, network, readable } = this.#options;
    // A program and its libraries: `bin/node` and `lib` beside `bin`.
    const prefixes = programs.map((program) => dirname(dirname(realpathSync(program))));
    const visible = [...SYSTEM, ...path, ...prefixes].filter(
      // A program in `~/bin` does not make the home visible.
      (directory, index, all) =>
        directory !== "/" && directory !== homedir() && all.indexOf(directory) === index,
    );
    const bound = [...visible, ...readable];
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
      "--",
    ];
  }
}
