import { constants } from "node:fs";
import { loadPyodide, type PyodideAPI, type PyodideConfig } from "pyodide";
import type { EmscriptenModule } from "./emscripten.ts";
import { BlockEnd, GuardedImports, type Watch } from "./imports.ts";
import { Scratch, WORKSPACE } from "./scratch.ts";

/** What makes a run of Python. The names are those of the prelude. */
export interface PythonRun {
  /** `code`: the source given, as if it were a file; `file`: the one named first in `argv`; `module`: as `python -m`. */
  mode: "code" | "file" | "module";
  source: string;
  argv: string[];
  cwd: string;
  /** Where modules are looked for first. */
  path: string;
  environment: Record<string, string>;
}

/** What Pyodide has for itself. */
interface Internals {
  _module: EmscriptenModule;
  _api: { config: PyodideConfig };
}

export interface PythonStreams {
  stdin: Uint8Array;
  stdout(bytes: Uint8Array): void;
  stderr(bytes: Uint8Array): void;
}

/** The memory may have grown by this much and still be worth setting back. */
const GROWTH_BYTES = 128 * 1024 * 1024;

/** Pyodide with our prelude, as it is before the first block, to start others from. Takes some seconds. */
export async function makeSnapshot(prelude: string): Promise<Uint8Array> {
  const pyodide = await load({ _makeSnapshot: true });
  pyodide.runPython(
    `import sys, types
module = types.ModuleType("_prelude")
module.__file__ = "<prelude>"
exec(compile(${JSON.stringify(prelude)}, "<prelude>", "exec"), module.__dict__)
sys.modules["_prelude"] = module
del module`,
  );
  return pyodide.makeMemorySnapshot();
}

function load(config: PyodideConfig) {
  // Emscripten asks for it to prepare a file system that is never used.
  Object.assign(process, { binding: () => ({ fs: constants }) });
  // Python objects that JavaScript holds live as long as the process: nothing may come back to them between blocks.
  const { FinalizationRegistry: original } = globalThis;
  Object.assign(globalThis, {
    FinalizationRegistry: class {
      register(): void {}
      unregister(): void {}
    },
  });
  return loadPyodide({
    env: { HOME: WORKSPACE },
    // Or it would be the path of this program.
    _sysExecutable: "/usr/bin/python3",
    jsglobals: Object.create(null) as object,
    ...config,
  }).finally(() => Object.assign(globalThis, { FinalizationRegistry: original }));
}

/** An interpreter in which each run is the first. */
export class Python {
  readonly version: string;
  readonly scratch: Scratch;
  readonly module: EmscriptenModule;
  readonly #imports: GuardedImports;
  readonly #memory: Uint8Array;
  readonly #stack: number;
  #streams: PythonStreams = { stdin: new Uint8Array(0), stdout() {}, stderr() {} };
  #read = 0;
  #settled = true;
  #broken = false;

  private constructor(pyodide: PyodideAPI, imports: GuardedImports) {
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
    // Terminals would lead to the pipes of this process.
    Object.assign(module.TTY.stream_ops, { read: () => 0, write: () => 0 });
    module.HEAP8[module._Py_EMSCRIPTEN_SIGNAL_HANDLING] = 1;
    imports.close();
    this.scratch = new Scratch(module.FS);
    this.#resetFiles();
    this.#stack = module.stackSave();
    this.#memory = module.HEAPU8.slice();
  }

  /** An interpreter as it was when the snapshot was made. From then on, it cannot reach JavaScript any more. */
  static async start(snapshot: Uint8Array): Promise<Python> {
    const imports = new GuardedImports();
    const pyodide = await imports.load(snapshot.length, () => load({ _loadSnapshot: snapshot }));
    // It would be held for good.
    delete (pyodide as unknown as Internals)._api.config._loadSnapshot;
    return new Python(pyodide, imports);
  }

  /** The code may have reached beyond the interpreter, or have left something that cannot be set back. */
  get spent(): boolean {
    return (
      this.#broken ||
      this.#imports.violated ||
      this.module.HEAPU8.length > this.#memory.length + GROWTH_BYTES
    );
  }

  /** Runs to the end, or until `watch` ends it. @returns how it ended; `exit` with any code is Python's own end */
  run(run: PythonRun, streams: PythonStreams, limits: Watch): BlockEnd {
    this.settle();
    this.#settled = false;
    this.#streams = streams;
    this.#read = 0;
    const watch = { ...limits, memoryBytes: this.#memory.length + limits.memoryBytes };
    try {
      const status = this.#imports.during(watch, () =>
        // A JSON text is a string of Python as well.
        this.#call(`import _prelude; _prelude.run(${JSON.stringify(JSON.stringify(run))})`),
      );
      return new BlockEnd("exit", status === 0 ? 0 : 1);
    } catch (error) {
      if (error instanceof BlockEnd) return error;
      // In the middle of anything, also of JavaScript's own work.
      this.#broken = true;
      return new BlockEnd(
        "crashed",
        1,
        error instanceof RangeError ? "the stack overflowed" : "the interpreter crashed",
      );
    }
  }

  /** Makes the interpreter what it was before the run: nothing that the code did to it lives on. */
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
        // It is forgotten all the same.
      }
    }
    FS.streams.length = 0;
    FS.open("/dev/stdin", 0);
    FS.open("/dev/stdout", 1);
    FS.open("/dev/stderr", 1);
    FS.chdir(WORKSPACE);
  }
}
