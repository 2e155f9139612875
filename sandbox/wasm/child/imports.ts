// Limits what Python in WebAssembly can call in JavaScript. Pyodide lets Python reach every JavaScript object, through functions
// that the WebAssembly module imports. Before code runs, all imports are closed but those of a computer without network: files
// in memory, clocks, random numbers. Whatever code does in Python, or to the interpreter's memory, it cannot call anything else.

/** Thrown through WebAssembly, to end a block at once. */
export class BlockEnd extends Error {
  readonly kind: "exit" | "timeout" | "crashed";
  readonly exitCode: number;

  constructor(kind: "exit" | "timeout" | "crashed", exitCode: number, message = "") {
    super(message);
    this.kind = kind;
    this.exitCode = exitCode;
  }
}

const OPEN = new Set(
  `
  __syscall_chdir __syscall_chmod __syscall_dup __syscall_dup3 __syscall_faccessat __syscall_fadvise64 __syscall_fallocate
  __syscall_fchdir __syscall_fchmod __syscall_fchmodat2 __syscall_fchown32 __syscall_fchownat __syscall_fcntl64
  __syscall_fdatasync __syscall_fstat64 __syscall_fstatfs64 __syscall_ftruncate64 __syscall_getcwd __syscall_getdents64
  __syscall_ioctl __syscall_lstat64 __syscall_mkdirat __syscall_newfstatat __syscall_openat __syscall_pipe
  __syscall_poll __syscall_readlinkat __syscall_renameat __syscall_rmdir __syscall_stat64 __syscall_statfs64
  __syscall_symlinkat __syscall_truncate64 __syscall_unlinkat __syscall_utimensat _mmap_js _msync_js _munmap_js
  fd_close fd_fdstat_get fd_pread fd_pwrite fd_read fd_seek fd_sync fd_write
  _gmtime_js _localtime_js _mktime_js _timegm_js _tzset_js clock_res_get clock_time_get emscripten_date_now
  environ_get environ_sizes_get _emscripten_get_progname emscripten_get_heap_max emscripten_resize_heap random_get
  __call_sighandler _PyEM_TrampolineCall_JS
  `
    .split(/\s+/)
    .filter((name) => name !== ""),
);

const ACCESS_DENIED = -2;
const UNKNOWN_NAME = -2;
const NO_SHELL = 127 << 8;

/** The limits of the running block. */
export interface Watch {
  /** By `performance.now()`. */
  deadline: number;
  /** Bytes the memory of the interpreter may have. */
  memoryBytes: number;
  /** Called now and then while Python is busy. */
  tick(): void;
}

/** How often a sleep calls `tick`. */
const TICK_MS = 25;

type Imported = (...args: never[]) => unknown;
type Imports = Record<string, Record<string, unknown>>;

const PAGE_BYTES = 65_536;

/** The part that we use; Node's types do not include WebAssembly. */
interface Assembly {
  instantiate: (source: unknown, imports?: Imports) => Promise<Loaded>;
  Instance: new (module: unknown, imports?: Imports) => Loaded["instance"];
}

interface Loaded {
  instance: { exports: { memory: { buffer: ArrayBuffer; grow(pages: number): void } } };
}

const assembly = (globalThis as unknown as { WebAssembly: Assembly }).WebAssembly;

/** The imports of the interpreter: all are open until `close`. */
export class GuardedImports {
  #closed = false;
  #watch: Watch | undefined;
  readonly #cell = new Int32Array(new SharedArrayBuffer(4));
  /** The functions of JavaScript that the interpreter imports. */
  readonly #names = new Set<string>();
  readonly #instead: Record<string, Imported>;
  /** Code has called a closed import. It may have caught the exception. */
  violated = false;

  constructor() {
    const denied = () => ACCESS_DENIED;
    const nothing = () => undefined;
    const exit = (code: number) => {
      throw new BlockEnd("exit", code);
    };
    this.#instead = {
      exit,
      proc_exit: exit,
      _abort_js: () => this.#crash("the interpreter aborted"),
      __assert_fail: () => this.#crash("the interpreter aborted"),
      emscripten_runtime_keepalive_push: nothing,
      emscripten_runtime_keepalive_pop: nothing,
      _emscripten_runtime_keepalive_clear: nothing,
      _emscripten_log_formatted: nothing,
      emscripten_log_impl_js: nothing,
      // Called regularly while Python is busy. There are no signals.
      _Py_CheckEmscriptenSignals_Helper: () => {
        this.#check();
        return 0;
      },
      // Called in a loop by sleeps, and by nothing else.
      emscripten_get_now: () => this.#sleep(1),
      can_run_sync_js: () => 0,
      _Py_emscripten_runtime: () => 0,
      _setitimer_js: denied,
      __syscall_getuid32_js: () => 1000,
      __syscall_umask_js: () => 0o022,
      __syscall_mknodat: denied,
      _emscripten_system: () => NO_SHELL,
      // There is no network.
      _maybe_connect_async: () => null,
      _maybe_recvfrom_async: () => null,
      _maybe_sendto_async: () => null,
      _maybe_poll_async: () => null,
      _try_fcntl64: () => 0,
      _try_shutdown: () => 0,
      getaddrinfo: () => UNKNOWN_NAME,
      getnameinfo: () => UNKNOWN_NAME,
      getprotobyname: () => 0,
      _emscripten_lookup_name: () => 0,
    };
    for (const name of ["accept4", "bind", "connect", "getpeername", "getsockname", "getsockopt"])
      this.#instead[`__syscall_${name}`] = denied;
    for (const name of ["listen", "recvfrom", "recvmsg", "sendmsg", "sendto", "socket"])
      this.#instead[`__syscall_${name}`] = denied;
  }

  /** Closes all imports that code must not call, for the rest of the process's life. */
  close(): void {
    this.#closed = true;
  }

  /** Runs a block within limits. */
  during<T>(watch: Watch, run: () => T): T {
    this.#watch = watch;
    try {
      return run();
    } finally {
      this.#watch = undefined;
    }
  }

  /** Loads the interpreter with guarded imports and at least this many bytes of memory. */
  async load<T>(memoryBytes: number, load: () => Promise<T>): Promise<T> {
    const { instantiate, Instance } = assembly;
    assembly.instantiate = async (source, imports) => {
      // Pyodide also loads a small helper module, without a system interface.
      if (imports?.wasi_snapshot_preview1 === undefined) return instantiate(source, imports);
      // The first one is the interpreter; modules with machine code follow.
      if (this.#names.size > 0) return instantiate(source, this.#guarded(imports));
      for (const members of Object.values(imports))
        for (const [name, member] of Object.entries(members))
          if (typeof member === "function") this.#names.add(name);
      const loaded = await instantiate(source, this.#guarded(imports));
      const { memory } = loaded.instance.exports;
      const missing = memoryBytes - memory.buffer.byteLength;
      if (missing > 0) memory.grow(Math.ceil(missing / PAGE_BYTES));
      return loaded;
    };
    const guarded = (imports: Imports) => this.#guarded(imports);
    assembly.Instance = class extends Instance {
      constructor(module: unknown, imports?: Imports) {
        super(module, imports?.wasi_snapshot_preview1 ? guarded(imports) : imports);
      }
    };
    try {
      return await load();
    } finally {
      Object.assign(assembly, { instantiate, Instance });
    }
  }

  #guarded(imports: Imports): Imports {
    const guarded: Imports = {};
    for (const [module, members] of Object.entries(imports)) {
      // Addresses of functions come as globals, made when they are asked for.
      guarded[module] = module.startsWith("GOT.")
        ? members
        : new Proxy(members, {
            get: (target, name: string) => {
              const member = target[name];
              // Functions of the interpreter, which modules with machine code import, are not a way out.
              return typeof member === "function" && this.#names.has(name)
                ? this.#guard(name, member as (...args: unknown[]) => unknown)
                : member;
            },
          });
    }
    return guarded;
  }

  #guard(name: string, original: (...args: unknown[]) => unknown) {
    const instead = this.#instead[name] as ((...args: unknown[]) => unknown) | undefined;
    if (instead !== undefined)
      return (...args: unknown[]) => (this.#closed ? instead(...args) : original(...args));
    if (name === "emscripten_resize_heap")
      return (bytes: unknown) =>
        this.#watch !== undefined && Number(bytes) >>> 0 > this.#watch.memoryBytes
          ? 0
          : original(bytes);
    if (name === "__syscall_poll")
      return (...args: unknown[]) => {
        const ready = original(...args);
        const timeout = Number(args[2]);
        if (this.#closed && ready === 0 && timeout !== 0) this.#sleep(timeout);
        return ready;
      };
    if (OPEN.has(name)) return original;
    return (...args: unknown[]) => (this.#closed ? this.#violation(name) : original(...args));
  }

  #violation(name: string): never {
    this.violated = true;
    return this.#crash(`the code tried to leave the sandbox (${name})`);
  }

  #crash(message: string): never {
    throw new BlockEnd("crashed", 1, message);
  }

  /** Sleeps until the time or the deadline. @returns the current time, in milliseconds */
  #sleep(ms: number): number {
    this.#check();
    const end = Math.min(
      ms < 0 ? Infinity : performance.now() + ms,
      this.#watch?.deadline ?? Infinity,
    );
    for (let now = performance.now(); now < end; now = performance.now()) {
      Atomics.wait(this.#cell, 0, 0, Math.min(end - now, TICK_MS));
      this.#watch?.tick();
    }
    this.#check();
    return performance.now();
  }

  #check(): void {
    const watch = this.#watch;
    if (watch === undefined) return;
    watch.tick();
    if (performance.now() >= watch.deadline) throw new BlockEnd("timeout", 124);
  }
}
