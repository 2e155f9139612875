import { type BigIntStats, constants } from "node:fs";
import {
  chmod,
  lchown,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import type { BlockLimits, WorkspaceChange, WorkspaceEntry } from "../runner.ts";
import { isPath } from "../workspace-path.ts";

/**
 * The directory that processes use as their workspace. It is touched only while none of them lives, and no link in it is ever
 * followed.
 */
export class Scratch {
  readonly path: string;
  readonly #uid: number | undefined;
  /** Stamps of the entries at the last update or scan, by path. */
  #known = new Map<string, string>();

  constructor(path: string, uid: number | undefined) {
    this.path = path;
    this.#uid = uid;
  }

  /** Applies changes. */
  async update({ removed, set }: WorkspaceChange): Promise<void> {
    for (const path of removed) {
      await rm(join(this.path, path), { recursive: true, force: true });
      for (const known of this.#known.keys())
        if (known === path || known.startsWith(`${path}/`)) this.#known.delete(known);
    }
    for (const entry of set) {
      await this.#write(entry);
      this.#known.set(entry.path, stampOf(await lstat(join(this.path, entry.path), BIG)));
    }
  }

  /** The changes since the last update or scan; undefined when the workspace exceeds its limits. */
  async changes(limits: BlockLimits): Promise<WorkspaceChange | undefined> {
    const walked = await this.#walk(limits);
    if (walked === undefined) return undefined;
    const { found, impossible } = walked;
    // Reported, so that the session refuses them. Entries below may be unreachable, because their paths are too long.
    const set: WorkspaceEntry[] = impossible.map((path) => ({ path, type: "directory" }));
    const known = new Map<string, string>();
    for (const [path, stats] of found) {
      const stamp = stampOf(stats);
      known.set(path, stamp);
      if (this.#known.get(path) !== stamp) set.push(await this.#read(path, stats));
    }
    const removed = [...this.#known.keys()].filter((path) => !known.has(path));
    this.#known = known;
    return { set, removed };
  }

  async #write(entry: WorkspaceEntry): Promise<void> {
    const path = join(this.path, entry.path);
    if (entry.type === "directory") {
      await mkdir(path);
    } else if (entry.type === "link") {
      await rm(path, { force: true });
      await symlink(entry.target, path);
    } else {
      await rm(path, { force: true });
      await writeFile(path, entry.content, { flag: "wx" });
      await chmod(path, entry.mode);
    }
    if (this.#uid !== undefined) await lchown(path, this.#uid, this.#uid);
  }

  /** All files, links and directories, each directory before its entries, and the paths that a workspace cannot have. */
  async #walk(
    limits: BlockLimits,
  ): Promise<{ found: Map<string, BigIntStats>; impossible: string[] } | undefined> {
    const found = new Map<string, BigIntStats>();
    const impossible: string[] = [];
    const directories = [""];
    let bytes = 0n;
    for (let next = directories.pop(); next !== undefined; next = directories.pop()) {
      for (const path of await this.#list(next)) {
        if (found.size + impossible.length >= limits.workspaceFiles) return undefined;
        if (!isPath(path)) {
          impossible.push(path);
          continue;
        }
        const stats = await this.#look(path);
        if (stats === undefined) {
          await rm(join(this.path, path), { recursive: true, force: true });
          continue;
        }
        found.set(path, stats);
        if (stats.isDirectory()) directories.push(path);
        else if (stats.isFile()) bytes += stats.size;
        if (bytes > limits.workspaceBytes) return undefined;
      }
    }
    return { found, impossible };
  }

  async #list(directory: string): Promise<string[]> {
    const path = join(this.path, directory);
    // Code may have removed its own permissions.
    const names = await readdir(path).catch(() => chmod(path, 0o700).then(() => readdir(path)));
    return names.map((name) => (directory === "" ? name : `${directory}/${name}`));
  }

  /** Undefined for entries that no workspace keeps: sockets, pipes, devices, and hard links to files of other users. */
  async #look(path: string): Promise<BigIntStats | undefined> {
    const stats = await lstat(join(this.path, path), BIG);
    if (this.#uid !== undefined && stats.uid !== BigInt(this.#uid)) return undefined;
    return stats.isFile() || stats.isDirectory() || stats.isSymbolicLink() ? stats : undefined;
  }

  async #read(path: string, stats: BigIntStats): Promise<WorkspaceEntry> {
    const full = join(this.path, path);
    if (stats.isDirectory()) return { path, type: "directory" };
    if (stats.isSymbolicLink()) return { path, type: "link", target: await readlink(full) };
    const mode = Number(stats.mode & 0o777n);
    const handle = await open(full, READ).catch(() =>
      chmod(full, mode | 0o400).then(() => open(full, READ)),
    );
    try {
      return { path, type: "file", mode, content: await handle.readFile() };
    } finally {
      await handle.close();
    }
  }
}

const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const BIG = { bigint: true } as const;

/** Changes when the entry changes. Directories have one stamp, because their contents are entries of their own. */
function stampOf(stats: BigIntStats): string {
  const { mode, ino, size, mtimeNs, ctimeNs } = stats;
  return stats.isDirectory() ? "directory" : [mode, ino, size, mtimeNs, ctimeNs].join(" ");
}
