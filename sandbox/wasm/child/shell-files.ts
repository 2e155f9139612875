import type { FsStat, IFileSystem } from "just-bash";
import type { EmscriptenFS, FSStats } from "./emscripten.ts";
import { remove } from "./scratch.ts";

/** Writing to this path prints. */
export const OUTPUT = "/dev/output";

const APPEND = 0o2101;

const ERRORS: Record<number, [code: string, text: string]> = {
  2: ["EACCES", "permission denied"],
  10: ["EBUSY", "resource busy or locked"],
  19: ["ENOSPC", "no more files may be made"],
  20: ["EEXIST", "file already exists"],
  28: ["EINVAL", "invalid argument"],
  31: ["EISDIR", "illegal operation on a directory"],
  32: ["ELOOP", "too many symbolic links encountered"],
  37: ["ENAMETOOLONG", "name too long"],
  44: ["ENOENT", "no such file or directory"],
  51: ["ENOSPC", "no space left on device"],
  54: ["ENOTDIR", "not a directory"],
  55: ["ENOTEMPTY", "directory not empty"],
  63: ["EPERM", "operation not permitted"],
  69: ["EROFS", "read-only file system"],
  75: ["EXDEV", "cross-device link not permitted"],
};

type Options = string | { encoding?: string | null } | undefined;

/** Python's file system, with the interface of the shell. */
export class ShellFiles implements IFileSystem {
  readonly #fs: EmscriptenFS;
  readonly #print: (bytes: Uint8Array) => void;

  constructor(fs: EmscriptenFS, print: (bytes: Uint8Array) => void) {
    this.#fs = fs;
    this.#print = print;
  }

  async readFile(path: string, options?: Options): Promise<string> {
    return Buffer.from(await this.readFileBuffer(path)).toString(encodingOf(options));
  }

  readFileBuffer(path: string): Promise<Uint8Array> {
    return this.#do("open", path, () => {
      if (this.#fs.isDir(this.#fs.stat(path).mode)) throw new this.#fs.ErrnoError(31);
      return this.#fs.readFile(path);
    });
  }

  writeFile(path: string, content: string | Uint8Array, options?: Options): Promise<void> {
    const bytes = toBytes(content, options);
    if (path === OUTPUT) return Promise.resolve(this.#print(bytes));
    return this.#do("open", path, () => this.#fs.writeFile(path, bytes));
  }

  appendFile(path: string, content: string | Uint8Array, options?: Options): Promise<void> {
    const bytes = toBytes(content, options);
    if (path === OUTPUT) return Promise.resolve(this.#print(bytes));
    return this.#do("open", path, () => this.#fs.writeFile(path, bytes, { flags: APPEND }));
  }

  async exists(path: string): Promise<boolean> {
    try {
      this.#fs.stat(path);
      return true;
    } catch {
      return path === OUTPUT;
    }
  }

  stat(path: string): Promise<FsStat> {
    if (path === OUTPUT) return this.stat("/dev/null");
    return this.#do("stat", path, () => this.#stats(this.#followed(path)));
  }

  lstat(path: string): Promise<FsStat> {
    return this.#do("lstat", path, () => this.#stats(this.#fs.lstat(path)));
  }

  mkdir(path: string, options?: { recursive?: boolean }): Promise<void> {
    return this.#do("mkdir", path, () =>
      options?.recursive === true ? this.#fs.mkdirTree(path) : this.#fs.mkdir(path),
    );
  }

  readdir(path: string): Promise<string[]> {
    return this.#do("scandir", path, () =>
      this.#fs
        .readdir(path)
        .filter((name) => name !== "." && name !== "..")
        .toSorted(),
    );
  }

  async readdirWithFileTypes(path: string) {
    const names = await this.readdir(path);
    return names.map((name) => {
      const { mode } = this.#fs.lstat(`${path}/${name}`);
      return {
        name,
        isFile: this.#fs.isFile(mode),
        isDirectory: this.#fs.isDir(mode),
        isSymbolicLink: this.#fs.isLink(mode),
      };
    });
  }

  rm(path: string, options?: { recursive?: boolean; force?: boolean }): Promise<void> {
    return this.#do("rm", path, () => {
      if (options?.force === true && !this.#has(path)) return;
      const { mode } = this.#fs.lstat(path);
      if (options?.recursive === true) remove(this.#fs, path);
      else if (this.#fs.isDir(mode)) this.#fs.rmdir(path);
      else this.#fs.unlink(path);
    });
  }

  cp(from: string, to: string, options?: { recursive?: boolean }): Promise<void> {
    return this.#do("cp", from, () => {
      if (to === from || to.startsWith(`${from}/`)) throw new this.#fs.ErrnoError(28);
      this.#copy(from, to, options?.recursive === true);
    });
  }

  mv(from: string, to: string): Promise<void> {
    return this.#do("rename", from, () => {
      try {
        this.#fs.rename(from, to);
      } catch (error) {
        if ((error as { errno?: number }).errno !== 75) throw error;
        this.#copy(from, to, true);
        remove(this.#fs, from);
      }
    });
  }

  resolvePath(base: string, path: string): string {
    const names: string[] = [];
    for (const name of (path.startsWith("/") ? path : `${base}/${path}`).split("/")) {
      if (name === "..") names.pop();
      else if (name !== "" && name !== ".") names.push(name);
    }
    return `/${names.join("/")}`;
  }

  getAllPaths(): string[] {
    return [];
  }

  chmod(path: string, mode: number): Promise<void> {
    return this.#do("chmod", path, () => this.#fs.chmod(path, mode));
  }

  symlink(target: string, path: string): Promise<void> {
    return this.#do("symlink", path, () => this.#fs.symlink(target, path));
  }

  /** A copy: there are no hard links. */
  link(existing: string, path: string): Promise<void> {
    return this.#do("link", path, () => {
      if (this.#has(path)) throw new this.#fs.ErrnoError(20);
      this.#copy(existing, path, false);
    });
  }

  readlink(path: string): Promise<string> {
    return this.#do("readlink", path, () => this.#fs.readlink(path));
  }

  realpath(path: string): Promise<string> {
    return this.#do("realpath", path, () => this.#fs.lookupPath(path, { follow: true }).path);
  }

  utimes(path: string, accessed: Date, modified: Date): Promise<void> {
    return this.#do("utime", path, () =>
      this.#fs.utime(path, accessed.getTime(), modified.getTime()),
    );
  }

  #copy(from: string, to: string, recursive: boolean): void {
    const fs = this.#fs;
    const { mode } = recursive ? fs.lstat(from) : fs.stat(from);
    if (fs.isLink(mode)) return fs.symlink(fs.readlink(from), to);
    if (!fs.isDir(mode)) {
      fs.writeFile(to, fs.readFile(from));
      return fs.chmod(to, mode & 0o777);
    }
    if (!recursive) throw new fs.ErrnoError(31);
    fs.mkdirTree(to);
    for (const name of fs.readdir(from))
      if (name !== "." && name !== "..") this.#copy(`${from}/${name}`, `${to}/${name}`, true);
  }

  #has(path: string): boolean {
    try {
      this.#fs.lstat(path);
      return true;
    } catch {
      return false;
    }
  }

  /** Describes a broken link itself: otherwise the shell could not remove it. */
  #followed(path: string): FSStats {
    const own = this.#fs.lstat(path);
    if (!this.#fs.isLink(own.mode)) return own;
    try {
      return this.#fs.stat(path);
    } catch {
      return own;
    }
  }

  #stats({ mode, size, mtime, ino }: FSStats): FsStat {
    return {
      isFile: !this.#fs.isDir(mode) && !this.#fs.isLink(mode),
      isDirectory: this.#fs.isDir(mode),
      isSymbolicLink: this.#fs.isLink(mode),
      mode: mode & 0o777,
      size,
      mtime,
      ino,
    };
  }

  /** Throws errors in the format of Node, which the shell's commands expect. */
  async #do<T>(operation: string, path: string, act: () => T): Promise<T> {
    try {
      return act();
    } catch (error) {
      const { errno } = error as { errno?: number };
      if (errno === undefined) throw error;
      const [code, text] = ERRORS[errno] ?? ["EIO", `error ${errno}`];
      throw Object.assign(new Error(`${code}: ${text}, ${operation} '${path}'`), { code });
    }
  }
}

function encodingOf(options: Options): BufferEncoding {
  const encoding = typeof options === "string" ? options : options?.encoding;
  return (encoding ?? "utf8") as BufferEncoding;
}

function toBytes(content: string | Uint8Array, options: Options): Uint8Array {
  return typeof content === "string" ? Buffer.from(content, encodingOf(options)) : content;
}
