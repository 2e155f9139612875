/** The parts of Emscripten's module of Python that we use. Its file system throws `ErrnoError` with error numbers of WASI. */
export interface EmscriptenModule {
  HEAP8: Int8Array;
  HEAPU8: Uint8Array;
  FS: EmscriptenFS;
  TTY: { stream_ops: Record<string, unknown> };
  lengthBytesUTF8(text: string): number;
  stringToUTF8(text: string, pointer: number, bytes: number): void;
  stackSave(): number;
  stackRestore(pointer: number): void;
  _malloc(bytes: number): number;
  _PyRun_SimpleString(pointer: number): number;
  _Py_EMSCRIPTEN_SIGNAL_HANDLING: number;
}

export interface FSMount {
  mountpoint: string;
}

export interface FSNode {
  id: number;
  name: string;
  mode: number;
  parent: FSNode;
  mount: FSMount;
  mtime: number;
  /** The bytes of a file, with free space after `usedBytes`; the entries of a directory by name. */
  contents: Uint8Array | Record<string, FSNode>;
  usedBytes: number;
  link?: string;
  /** Our addition: content or mode have changed since the last comparison of the workspace. */
  touched?: boolean;
}

export interface FSStream {
  node: FSNode;
  flags: number;
}

export interface FSStats {
  ino: number;
  mode: number;
  size: number;
  mtime: Date;
}

type NodeOp = (node: FSNode, ...args: never[]) => unknown;

/** Emscripten's file system in memory. Every node looks its operations up in `ops_table`. */
export interface MemoryFS {
  ops_table: {
    dir: { node: Record<string, NodeOp> };
    file: { node: Record<string, NodeOp>; stream: Record<string, unknown> };
    link: { node: Record<string, NodeOp> };
    chrdev: { node: Record<string, NodeOp> };
  };
  stream_ops: { write: StreamWrite };
}

export type StreamWrite = (
  stream: FSStream,
  buffer: Uint8Array,
  offset: number,
  length: number,
  position: number,
  canOwn?: boolean,
) => number;

export interface EmscriptenFS {
  filesystems: { MEMFS: MemoryFS };
  streams: (FSStream | null)[];
  ErrnoError: new (errno: number) => Error & { errno: number };
  mount(type: MemoryFS, options: object, mountpoint: string): FSNode & { mount: FSMount };
  lookupPath(path: string, options: { follow?: boolean }): { path: string; node: FSNode };
  isDir(mode: number): boolean;
  isFile(mode: number): boolean;
  isLink(mode: number): boolean;
  open(path: string, flags: number): FSStream;
  close(stream: FSStream): void;
  chdir(path: string): void;
  mkdir(path: string, mode?: number): void;
  mkdirTree(path: string): void;
  readdir(path: string): string[];
  stat(path: string): FSStats;
  lstat(path: string): FSStats;
  readFile(path: string): Uint8Array;
  writeFile(path: string, data: Uint8Array, options?: { flags?: number; canOwn?: boolean }): void;
  rename(from: string, to: string): void;
  unlink(path: string): void;
  rmdir(path: string): void;
  symlink(target: string, path: string): void;
  readlink(path: string): string;
  chmod(path: string, mode: number): void;
  utime(path: string, accessed: number, modified: number): void;
}
