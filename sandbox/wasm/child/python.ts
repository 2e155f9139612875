import { constants } from "node:fs";
import { loadPyodide, type PyodideAPI, type PyodideConfig } from "pyodide";
import type { WorkspaceChange } from "../../runner.ts";
import type { EmscriptenModule } from "./emscripten.ts";
import { BlockEnd, GuardedImports, type Watch } from "./imports.ts";
import { type Installed, Packages, type SnapshotPlan } from "./packages.ts";
import { Scratch, WORKSPACE } from "./scratch.ts";

/** A run of Python, with the names of the prelude's parameters. */
export interface PythonRun {
  /** `code`: runs `source`; `file`: runs the first of `argv`; `module`: like `python -m`. */
  mode: "code" | "file" | "module";
  source: string;
  argv: string[];
  cwd: string;
  /** The first directory for imports. */
  path: string;
  environment: Record<string, string>;
}

/** Internal parts of Pyodide. */
interface Internals {
  _module: EmscriptenModule;
  _api: { config: PyodideConfig };
}

export interface PythonStreams {
  stdin: Uint8Array;
  stdout(bytes: Uint8Array): void;
  stderr(bytes: Uint8Array): void;
}

/** Memory that has grown by more is not restored; the process is replaced. */
const GROWTH_BYTES = 128 * 1024 * 1024;

/** A snapshot of Pyodide with our prelude and packages, before the first block. */
export interface MadeSnapshot extends Installed {
  memory: Uint8Array;
  /** The files of the packages: a snapshot has no files. */
  files: WorkspaceChange;
}

/** Takes some seconds. */
export async function makeSnapshot(prelude: string, plan: SnapshotPlan): Promise<MadeSnapshot> {
  const pyodide = await load({ _makeSnapshot: true });
  pyodide.runPython(
    `import sys, types
module = types.ModuleType("_prelude")
module.__file__ = "<prelude>"
exec(compile(${JSON.stringify(prelude)}, "<prelude>", "exec"), module.__dict__)
sys.modules["_prelude"] = module
del module`,
  );
  const packages = new Packages(pyodide);
  const installed = packages.install(plan);
  const files = packages.files();
  packages.close();
  return { ...installed, files, memory: pyodide.makeMemorySnapshot() };
}

/** Draws into files, and keeps its caches out of the workspace. */
export const PLOTTING = { MPLBACKEND: "Agg", MPLCONFIGDIR: "/tmp" };

function load(config: PyodideConfig) {
  // Emscripten needs it to prepare a file system that is never used.
  Object.assign(process, { binding: () => ({ fs: constants }) });
  // Finalizers would free Python objects between blocks, in memory that was restored.
  const { FinalizationRegistry: original } = globalThis;
  Object.assign(globalThis, {
    FinalizationRegistry: class {
      register(): void {}
      unregister(): void {}
    },
  });
  return loadPyodide({
    env: { HOME: WORKSPACE, ...PLOTTING },
    // The default is the path of this program.
    _sysExecutable: "/usr/bin/python3",
    jsglobals: Object.create(null) as object,
    ...config,
  }).finally(() => Object.assign(globalThis, { FinalizationRegistry: original }));
}

/** An interpreter that is restored after each run. */
export class Python {
  readonly version: string;
  /** What could not be imported before the first block. */
  readonly failures: readonly string[];
  readonly scratch: Scratch;
  readonly module: EmscriptenModule;
  readonly #imports: GuardedImports;
  readonly #memory: Uint8Array;
  readonly #stack: number;
  #streams: PythonStreams = { stdin: new Uint8Array(0), stdout() {}, stderr() {} };
  #read = 0;
  #settled = true;
  #broken = false;

  private constructor(pyodide: PyodideAPI, imports: GuardedImports, failures: readonly string[]) {
    this.failures = failures;
    const module = (pyodide as unknown as Internals)._module;
    this.module = module;
    this.#imports = imports;
    pyodide.setStdin({ isatty: false, read: (buffer) => this.#stdin(buffer) });
    for (const stream of ["stdout", "stderr"] as const) {
      const write = (bytes: Uint8Array) => {
        this.#streams[stream](bytes);
        return bytes.length;
      };
      if (stream === "stdout") pyodide.setStdout({ isatty: false, write });
      else pyodide.setStderr({ isatty: false, write });
    }
    this.version = pyodide.runPython(
      `import _prelude, os, random, platform
_prelude.close()
os.urandom(1)
platform.python_version()`,
    ) as string;
    // Terminals would use the standard streams of this process.
    Object.assign(module.TTY.stream_ops, { read: () => 0, write: () => 0 });
    module.HEAP8[module._Py_EMSCRIPTEN_SIGNAL_HANDLING] = 1;
    imports.close();
    this.scratch = new Scratch(module.FS);
    this.#resetFiles();
    this.#stack = module.stackSave();
    this.#memory = module.HEAPU8.slice();
  }

  /**
   * Starts an interpreter from a snapshot, its files and modules to import first. It cannot reach JavaScript. Modules that
   * could not be imported are in `failures`.
   */
  static async start(
    snapshot: Uint8Array,
    files: WorkspaceChange,
    modules: readonly string[],
  ): Promise<Python> {
    const imports = new GuardedImports();
    let failures: string[] = [];
    const pyodide = await imports.load(snapshot.length, async () => {
      const loaded = await load({ _loadSnapshot: snapshot });
      const packages = new Packages(loaded);
      failures = packages.restore(files, modules);
      packages.close();
      return loaded;
    });
    // Frees the memory of the snapshot.
    delete (pyodide as unknown as Internals)._api.config._loadSnapshot;
    return new Python(pyodide, imports, failures);
  }

  /** Whether the interpreter cannot be restored, or code tried to leave it. */
  get spent(): boolean {
    return (
      this.#broken ||
      this.#imports.violated ||
      this.module.HEAPU8.length > this.#memory.length + GROWTH_BYTES
    );
  }

  /** Runs to the end or to a limit. @returns how it ended; `exit` with any code is a normal end */
  run(run: PythonRun, streams: PythonStreams, limits: Watch): BlockEnd {
    this.settle();
    this.#settled = false;
    this.#streams = streams;
    this.#read = 0;
    const watch = { ...limits, memoryBytes: this.#memory.length + limits.memoryBytes };
    try {
      const status = this.#imports.during(watch, () =>
        // A JSON string is a string literal of Python, too.
        this.#call(`import _prelude; _prelude.run(${JSON.stringify(JSON.stringify(run))})`),
      );
      return new BlockEnd("exit", status === 0 ? 0 : 1);
    } catch (error) {
      if (error instanceof BlockEnd) return error;
      // JavaScript itself may have been interrupted anywhere.
      this.#broken = true;
      return new BlockEnd(
        "crashed",
        1,
        error instanceof RangeError ? "the stack overflowed" : "the interpreter crashed",
      );
    }
  }

  /** Restores the interpreter to its state before the run. */
  settle(): void {
    if (this.#settled) return;
    this.#resetFiles();
    const memory = this.module.HEAPU8;
    memory.set(this.#memory);
    memory.fill(0, this.#memory.length);
    this.module.stackRestore(this.#stack);
    this.#settled = true;
  }

  #stdin(buffer: Uint8Array): number {
    const piece = this.#streams.stdin.subarray(this.#read, this.#read + buffer.length);
    buffer.set(piece);
    this.#read += piece.length;
    return piece.length;
  }

  #call(statement: string): number {
    const { module } = this;
    const bytes = module.lengthBytesUTF8(statement) + 1;
    const pointer = module._malloc(bytes);
    if (pointer === 0) throw new BlockEnd("crashed", 1, "the code is too long");
    module.stringToUTF8(statement, pointer, bytes);
    return module._PyRun_SimpleString(pointer);
  }

  #resetFiles(): void {
    const { FS } = this.module;
    for (const stream of FS.streams) {
      if (stream === null || stream === undefined) continue;
      try {
        FS.close(stream);
      } catch {
        // It is removed from the table below.
      }
    }
    FS.streams.length = 0;
    FS.open("/dev/stdin", 0);
    FS.open("/dev/stdout", 1);
    FS.open("/dev/stderr", 1);
    FS.chdir(WORKSPACE);
  }
}
