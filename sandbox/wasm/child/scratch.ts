import type { WorkspaceChange, WorkspaceEntry } from "../../runner.ts";
import type { EmscriptenFS, FSMount, FSNode, StreamWrite } from "./emscripten.ts";

export const WORKSPACE = "/workspace";
/** The folders that code can read and not change. */
export const FOLDERS = "/folders";
const TEMPORARY = "/tmp";

const NO_SPACE = 51;
const NO_ENTRIES_LEFT = 19;
const READ_ONLY = 69;
const NAME_TOO_LONG = 37;

/** In bytes, as on Linux. The parent accepts nothing longer. */
const LONGEST_NAME = 255;
const LONGEST_PATH = 4095;

export interface Quota {
  bytes: number;
  entries: number;
}

/** An entry of the workspace at the last comparison. */
interface Seen {
  id: number;
  mode: number;
}

/**
 * The writable directories: the workspace and `/tmp`, which is emptied after each block. The rest of the file system in memory is
 * read-only, so every block finds it as it was at the start.
 */
export class Scratch {
  readonly #fs: EmscriptenFS;
  readonly #mounts = new Set<FSMount>();
  readonly #roots: FSNode[] = [];
  readonly #folders: FSMount;
  #quota: Quota = { bytes: Infinity, entries: Infinity };
  /** An upper bound of the use: increased by writes, and counted again when it reaches the quota. */
  #used: Quota = { bytes: 0, entries: 0 };
  #seen = new Map<string, Seen>();

  constructor(fs: EmscriptenFS) {
    this.#fs = fs;
    const mount = (path: string): FSNode => {
      fs.mkdirTree(path);
      const root = fs.mount(fs.filesystems.MEMFS, {}, path);
      root.contents = Object.create(null) as Record<string, FSNode>;
      return root;
    };
    for (const path of [WORKSPACE, TEMPORARY]) {
      const root = mount(path);
      this.#roots.push(root);
      this.#mounts.add(root.mount);
    }
    this.#folders = mount(FOLDERS).mount;
    this.#guard();
  }

  limit(quota: Quota): void {
    this.#quota = quota;
    this.#used = this.#count();
  }

  /** Applies changes of the service to the workspace, without a quota. */
  apply(change: WorkspaceChange): void {
    this.#quota = { bytes: Infinity, entries: Infinity };
    for (const path of change.removed) remove(this.#fs, `${WORKSPACE}/${path}`);
    for (const entry of change.set) this.#set(WORKSPACE, entry);
    this.changes();
  }

  /** Replaces the folders that code can read and not change. */
  mount(folders: WorkspaceChange): void {
    this.#quota = { bytes: Infinity, entries: Infinity };
    this.#mounts.add(this.#folders);
    empty(this.#fs, FOLDERS);
    for (const entry of folders.set) this.#set(FOLDERS, entry);
    this.#mounts.delete(this.#folders);
  }

  /** The changes of the workspace since the last call. */
  changes(): WorkspaceChange {
    const change: WorkspaceChange = { set: [], removed: [] };
    const seen = new Map<string, Seen>();
    const [root] = this.#roots;
    if (root !== undefined) this.#compare(root, "", seen, change);
    let above: string | undefined;
    for (const path of this.#seen.keys()) {
      if (seen.has(path) || (above !== undefined && path.startsWith(above))) continue;
      change.removed.push(path);
      above = `${path}/`;
    }
    this.#seen = seen;
    return change;
  }

  clearTemporary(): void {
    empty(this.#fs, TEMPORARY);
  }

  #compare(directory: FSNode, prefix: string, seen: Map<string, Seen>, change: WorkspaceChange) {
    for (const [name, node] of Object.entries(directory.contents as Record<string, FSNode>)) {
      const path = prefix + name;
      const entry = this.#entry(path, node);
      if (entry === undefined) continue;
      const before = this.#seen.get(path);
      seen.set(path, { id: node.id, mode: node.mode });
      if (before?.id !== node.id || before.mode !== node.mode || node.touched === true) {
        // An entry of another type must be removed first, with everything in it.
        if (before !== undefined && typeOf(before.mode) !== typeOf(node.mode))
          change.removed.push(path);
        node.touched = false;
        change.set.push(entry);
      }
      if (entry.type === "directory") this.#compare(node, `${path}/`, seen, change);
    }
  }

  #entry(path: string, node: FSNode): WorkspaceEntry | undefined {
    const { mode } = node;
    if (this.#fs.isDir(mode)) return { path, type: "directory" };
    if (this.#fs.isLink(mode)) return { path, type: "link", target: node.link ?? "" };
    if (!this.#fs.isFile(mode)) return undefined;
    const content = (node.contents as Uint8Array).subarray(0, node.usedBytes);
    return { path, type: "file", content, mode: mode & 0o777 };
  }

  #set(root: string, entry: WorkspaceEntry): void {
    const path = `${root}/${entry.path}`;
    const fs = this.#fs;
    fs.mkdirTree(path.slice(0, path.lastIndexOf("/")));
    if (entry.type === "directory") return fs.mkdirTree(path);
    remove(fs, path);
    if (entry.type === "link") return fs.symlink(entry.target, path);
    fs.writeFile(path, entry.content);
    fs.chmod(path, entry.mode);
  }

  /** Enforces quota and write protection below all ways to change a file, in the table where nodes look up their operations. */
  #guard(): void {
    const { MEMFS } = this.#fs.filesystems;
    const { dir, file, link, chrdev } = MEMFS.ops_table;
    const guard = (
      ops: Record<string, (node: FSNode, ...args: never[]) => unknown>,
      name: string,
      before: (node: FSNode, ...args: never[]) => void,
      after?: (node: FSNode) => void,
    ) => {
      const original = ops[name];
      if (original === undefined) throw new Error(`the file system has no ${name}`);
      ops[name] = (node, ...args) => {
        before(node, ...args);
        const result = original(node, ...args);
        after?.(result as FSNode);
        return result;
      };
    };
    const writable = (node: FSNode) => this.#writable(node);
    const create = (parent: FSNode, name: string) => {
      this.#writable(parent);
      this.#requireShort(parent, name);
      this.#charge(0, 1);
    };
    guard(dir.node, "mknod", create, (node) => {
      // Without a prototype, `__proto__` is an ordinary name.
      if (this.#fs.isDir(node.mode)) node.contents = Object.create(null) as Record<string, FSNode>;
    });
    guard(dir.node, "symlink", (parent: FSNode, name: string, target: string) => {
      if (Buffer.byteLength(target) > LONGEST_PATH) throw new this.#fs.ErrnoError(NAME_TOO_LONG);
      create(parent, name);
    });
    guard(dir.node, "unlink", writable);
    guard(dir.node, "rmdir", writable);
    guard(dir.node, "rename", (node: FSNode, directory: FSNode, name: string) => {
      this.#writable(node);
      this.#writable(directory);
      this.#requireShort(
        directory,
        name,
        this.#fs.isDir(node.mode) ? longestPath(this.#fs, node) : 0,
      );
    });
    for (const { node } of [dir, file, link, chrdev]) {
      guard(node, "setattr", (changed: FSNode, attributes: { size?: number }) => {
        this.#writable(changed);
        this.#charge((attributes.size ?? 0) - (changed.usedBytes ?? 0), 0);
        changed.touched = true;
      });
    }
    const original = MEMFS.stream_ops.write;
    const write: StreamWrite = (stream, buffer, offset, length, position, canOwn) => {
      this.#writable(stream.node);
      this.#charge(position + length - stream.node.usedBytes, 0);
      stream.node.touched = true;
      return original(stream, buffer, offset, length, position, canOwn);
    };
    MEMFS.stream_ops.write = write;
    file.stream.write = write;
  }

  /** @param below bytes of the longest path below the entry */
  #requireShort(parent: FSNode, name: string, below = 0): void {
    const bytes = Buffer.byteLength(name);
    if (bytes > LONGEST_NAME || pathBytes(parent) + bytes + below > LONGEST_PATH)
      throw new this.#fs.ErrnoError(NAME_TOO_LONG);
  }

  #writable(node: FSNode): void {
    if (!this.#mounts.has(node.mount)) throw new this.#fs.ErrnoError(READ_ONLY);
  }

  #charge(bytes: number, entries: number): void {
    const used = this.#used;
    used.bytes += Math.max(0, bytes);
    used.entries += entries;
    if (!this.#exceeded()) return;
    this.#used = this.#count();
    this.#used.bytes += Math.max(0, bytes);
    this.#used.entries += entries;
    if (!this.#exceeded()) return;
    throw new this.#fs.ErrnoError(
      this.#used.bytes > this.#quota.bytes ? NO_SPACE : NO_ENTRIES_LEFT,
    );
  }

  #exceeded(): boolean {
    return this.#used.bytes > this.#quota.bytes || this.#used.entries > this.#quota.entries;
  }

  /** Counts all entries, and open files that were deleted. */
  #count(): Quota {
    const nodes = new Set<FSNode>();
    for (const root of this.#roots) collect(this.#fs, root, nodes);
    for (const stream of this.#fs.streams)
      if (stream !== null && stream !== undefined && this.#mounts.has(stream.node.mount))
        nodes.add(stream.node);
    let bytes = 0;
    for (const node of nodes) bytes += this.#fs.isFile(node.mode) ? node.usedBytes : 0;
    return { bytes, entries: nodes.size };
  }
}

/** Removes an entry, if there is one, and everything below it. Links are not followed. */
export function remove(fs: EmscriptenFS, path: string): void {
  let mode: number;
  try {
    ({ mode } = fs.lstat(path));
  } catch {
    return;
  }
  if (!fs.isDir(mode)) return fs.unlink(path);
  empty(fs, path);
  fs.rmdir(path);
}

function empty(fs: EmscriptenFS, directory: string): void {
  for (const name of fs.readdir(directory))
    if (name !== "." && name !== "..") remove(fs, `${directory}/${name}`);
}

function collect(fs: EmscriptenFS, directory: FSNode, nodes: Set<FSNode>): void {
  for (const node of Object.values(directory.contents as Record<string, FSNode>)) {
    nodes.add(node);
    if (fs.isDir(node.mode)) collect(fs, node, nodes);
  }
}

/** Bytes of the path of a directory, with a slash at its end. */
function pathBytes(node: FSNode): number {
  let bytes = 0;
  for (let at = node; at.parent !== at; at = at.parent) bytes += Buffer.byteLength(at.name) + 1;
  return bytes;
}

/** Bytes of the longest path below a directory, with a slash at its beginning. */
function longestPath(fs: EmscriptenFS, directory: FSNode): number {
  let longest = 0;
  for (const [name, node] of Object.entries(directory.contents as Record<string, FSNode>)) {
    const below = fs.isDir(node.mode) ? longestPath(fs, node) : 0;
    longest = Math.max(longest, 1 + Buffer.byteLength(name) + below);
  }
  return longest;
}

function typeOf(mode: number): number {
  return mode & 0o170000;
}
