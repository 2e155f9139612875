import { readFileSync } from "node:fs";
import type {
  BlockLimits,
  BlockResult,
  BlockRun,
  CodeBlock,
  EndedBy,
  Folder,
  Runner,
  WorkspaceChange,
  WorkspaceEntry,
} from "../runner.ts";
import { changeFrames, ChangeReader } from "./changes.ts";
import {
  type BlockReport,
  type BlockRequest,
  CHUNK_BYTES,
  encodeFrame,
  encodeJson,
  FRAME,
  FrameReader,
} from "./frames.ts";
import { type Child, startChild } from "./process.ts";
import type { Snapshot } from "./snapshot.ts";

/** Heap of JavaScript in the child: for the shell, and for files. */
const HEAP_BYTES = 512 * 1024 * 1024;

/** Time for a child to end a block after its timeout by itself, so that files are kept. */
const GRACE_MS = 1000;

/** Time for a child to report its changes. */
const REPORT_MS = 10_000;

/** Time for a child to start, or to apply an update. */
const ANSWER_MS = 60_000;

const RSS_EVERY_MS = 50;

/** For garbage of JavaScript that is not collected yet. */
const HEAP_SLACK = 64 * 1024 * 1024;

/** How Node ends when JavaScript is out of memory. */
const OUT_OF_HEAP: ReadonlySet<string | null> = new Set(["SIGABRT", "SIGTRAP"]);

const NO_CHANGE: WorkspaceChange = { set: [], removed: [] };

const EXIT_CODES: Record<EndedBy, number> = {
  timeout: 124,
  memory: 137,
  cancelled: 125,
  workspace: 1,
  temporary: 1,
  crashed: 1,
};

/** Receives the frames of the child, and is called when the child has ended. */
interface Listener {
  frame(type: number, body: Uint8Array): void;
  gone(): void;
}

/** The parent's side of a child process. */
export class WasmRunner implements Runner {
  readonly #child: Child;
  readonly #gone: Promise<void>;
  #listener: Listener | undefined;
  #usable = true;
  /** Version of the interpreter in the child. */
  pythonVersion = "";
  /** Modules that could not be imported, with the reasons. */
  failures: readonly string[] = [];

  /** Resolves when the child is ready. `imports`: modules with machine code, which it imports first. */
  static async start(
    { file, files }: Pick<Snapshot, "file" | "files">,
    imports: readonly string[] = [],
  ): Promise<WasmRunner> {
    const task = ["serve", file, files, JSON.stringify(imports)];
    const runner = new WasmRunner(startChild(task, [file, files], HEAP_BYTES));
    const { python, failures } = parseJson(await runner.#answer(FRAME.ready));
    runner.pythonVersion = String(python);
    runner.failures = failures as string[];
    return runner;
  }

  private constructor(child: Child) {
    this.#child = child;
    const reader = new FrameReader(CHUNK_BYTES);
    child.output.on("data", (piece: Uint8Array) => {
      try {
        for (const { type, body } of reader.push(piece)) this.#listener?.frame(type, body);
      } catch {
        // It violates the protocol.
        this.#kill();
      }
    });
    this.#gone = new Promise((done) => {
      const gone = () => {
        this.#usable = false;
        this.#listener?.gone();
        done();
      };
      child.process.once("close", gone);
      child.process.once("error", gone);
    });
  }

  get usable(): boolean {
    return this.#usable;
  }

  get pid(): number | undefined {
    return this.#child.process.pid;
  }

  async update(change: WorkspaceChange): Promise<void> {
    for (const frame of changeFrames(change)) this.#child.input.write(frame);
    this.#child.input.write(encodeFrame(FRAME.update, new Uint8Array(0)));
    await this.#answer(FRAME.updated);
  }

  async mount(folders: readonly Folder[]): Promise<void> {
    const set = folders.flatMap(({ name, entries }): WorkspaceEntry[] => [
      { path: name, type: "directory" },
      ...entries.map((entry) => ({ ...entry, path: `${name}/${entry.path}` })),
    ]);
    for (const frame of changeFrames({ set, removed: [] })) this.#child.input.write(frame);
    this.#child.input.write(encodeFrame(FRAME.folders, new Uint8Array(0)));
    await this.#answer(FRAME.updated);
  }

  async run(block: CodeBlock, run: BlockRun): Promise<BlockResult> {
    if (run.signal.aborted) return ended("cancelled");
    const { limits } = run;
    const request: BlockRequest = {
      language: block.language === "python" ? "python" : "shell",
      code: block.code,
      env: run.env ?? {},
      timeoutMs: limits.timeoutMs,
      memoryBytes: limits.memoryBytes,
      workspaceBytes: limits.workspaceBytes,
      workspaceFiles: limits.workspaceFiles,
    };
    const change = new ChangeReader({
      bytes: limits.workspaceBytes,
      entries: limits.workspaceFiles,
    });
    let why: EndedBy = "crashed";
    const end = (reason: EndedBy) => {
      why = reason;
      this.#kill();
    };
    const cancel = () => end("cancelled");
    run.signal.addEventListener("abort", cancel);
    const late = () => end("timeout");
    let timer = setTimeout(late, limits.timeoutMs + GRACE_MS);
    let reporting = false;
    const watch = this.#watchMemory(limits, () => end("memory"));
    try {
      const report = await new Promise<BlockReport | undefined>((done) => {
        this.#listener = {
          frame: (type, body) => {
            if (type === FRAME.output && !reporting) return run.onOutput(body);
            if (!reporting) {
              reporting = true;
              clearTimeout(timer);
              timer = setTimeout(late, REPORT_MS);
            }
            if (change.take(type, body)) return;
            if (type !== FRAME.report) throw new Error("an unexpected frame");
            done(parseReport(body));
          },
          gone: () => {
            if (OUT_OF_HEAP.has(this.#child.process.signalCode)) why = "memory";
            done(undefined);
          },
        };
        if (!this.#usable) return done(undefined);
        this.#child.input.write(encodeJson(FRAME.run, request));
      });
      if (report === undefined) return ended(why);
      if (report.spent) this.#kill();
      return {
        exitCode: report.exitCode,
        ...(report.endedBy === undefined ? {} : { endedBy: report.endedBy }),
        change: change.end(),
      };
    } finally {
      clearTimeout(timer);
      clearInterval(watch);
      run.signal.removeEventListener("abort", cancel);
      this.#listener = undefined;
    }
  }

  async close(): Promise<void> {
    this.#kill();
    await this.#gone;
  }

  /** Stops the block when the process grows too much, in memory that no limit inside the process covers. */
  #watchMemory(limits: BlockLimits, exceeded: () => void): NodeJS.Timeout | undefined {
    const before = residentBytes(this.pid);
    if (before === undefined) return undefined;
    // Files are in memory, too.
    const most = before + limits.memoryBytes + limits.workspaceBytes + HEAP_SLACK;
    return setInterval(() => {
      const now = residentBytes(this.pid);
      if (now !== undefined && now > most) exceeded();
    }, RSS_EVERY_MS);
  }

  #answer(expected: number): Promise<Uint8Array> {
    return new Promise((done, failed) => {
      const timer = setTimeout(() => this.#kill(), ANSWER_MS);
      const end = (act: () => void) => {
        clearTimeout(timer);
        this.#listener = undefined;
        act();
      };
      const gone = () =>
        end(() =>
          failed(new Error(`The process that runs code has ended. ${this.#child.errors()}`)),
        );
      if (!this.#usable) return gone();
      this.#listener = {
        frame: (type, body) => {
          if (type !== expected) throw new Error("an unexpected frame");
          end(() => done(body));
        },
        gone,
      };
    });
  }

  #kill(): void {
    this.#usable = false;
    this.#child.process.kill("SIGKILL");
  }
}

function ended(endedBy: EndedBy): BlockResult {
  return { exitCode: EXIT_CODES[endedBy], endedBy, change: NO_CHANGE };
}

function parseReport(body: Uint8Array): BlockReport {
  const { exitCode, endedBy, spent } = parseJson(body);
  return {
    exitCode: typeof exitCode === "number" ? exitCode & 0xff : 1,
    ...(endedBy === "timeout" || endedBy === "crashed" ? { endedBy } : {}),
    spent: spent !== false,
  };
}

function parseJson(body: Uint8Array): Record<string, unknown> {
  return JSON.parse(new TextDecoder().decode(body)) as Record<string, unknown>;
}

/** Resident memory of a process; undefined where the system does not report it. */
function residentBytes(pid: number | undefined): number | undefined {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}
