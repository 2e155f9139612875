import type {
  BlockResult,
  BlockRun,
  CodeBlock,
  Isolation,
  Runner,
  WorkspaceChange,
} from "../../runner.ts";
import { Execution } from "../../sessions/execution.ts";
import type { ExecutionResult } from "../../sessions/manifest.ts";
import { Sessions, type SessionsOptions } from "../../sessions/sessions.ts";

/** So long that a manifest does not have it in itself. */
const LONG = ".".repeat(5000);

/** An isolation whose every block adds 1 to the number in the file `counter` and prints it. */
export class CountingIsolation implements Isolation {
  readonly missing = [];
  readonly walls = [];
  readonly name = "wasm";
  readonly languages = [{ name: "count", aliases: [], version: "1" }];
  readonly hasOutsideEffects: boolean;
  /** Runners that are not closed. */
  readonly open = new Set<Runner>();

  constructor(hasOutsideEffects: boolean) {
    this.hasOutsideEffects = hasOutsideEffects;
  }

  async start(): Promise<void> {}

  async runner(): Promise<Runner> {
    const runner = new CountingRunner(() => this.open.delete(runner));
    this.open.add(runner);
    return runner;
  }

  async close(): Promise<void> {}
}

class CountingRunner implements Runner {
  usable = true;
  readonly #onClose: () => void;
  #count = 0;

  constructor(onClose: () => void) {
    this.#onClose = onClose;
  }

  async update({ set }: WorkspaceChange): Promise<void> {
    for (const entry of set)
      if (entry.path === "counter" && entry.type === "file")
        this.#count = Number(Buffer.from(entry.content).toString());
  }

  async mount(): Promise<void> {}

  async run(_: CodeBlock, { onOutput }: BlockRun): Promise<BlockResult> {
    this.#count++;
    onOutput(Buffer.from(`${this.#count}${LONG}`));
    const file = (path: string) => {
      const content = Buffer.from(String(this.#count));
      return { path, type: "file", content, mode: 0o644 } as const;
    };
    const set = [file("counter"), file(`made/${this.#count}`)];
    return { exitCode: 0, change: { set, removed: [] } };
  }

  async close(): Promise<void> {
    this.usable = false;
    this.#onClose();
  }
}

/** The sessions of a data directory, in which only counting is possible. */
export function countingSessions(
  data: string,
  isolation: CountingIsolation,
  options: Partial<SessionsOptions> = {},
): Promise<Sessions> {
  return Sessions.open({
    data,
    isolation,
    memoryBytes: 1e9,
    workspaceBytes: 1e6,
    workspaceFiles: 100,
    temporaryBytes: 1e6,
    outputBytes: 1e6,
    maxOutputBytes: 1e6,
    maxSessions: 10,
    concurrency: 1,
    reserved: 0,
    shortSeconds: 3,
    maxWaiting: 10,
    maxSessionWaiting: 10,
    recordedResults: 10,
    idleSeconds: 3600,
    warmSeconds: 3600,
    maxWarm: 1,
    log: (error) => {
      throw error;
    },
    ...options,
  });
}

/** Counts once, under a key. */
export async function count(
  sessions: Sessions,
  key: string,
  session = "s",
): Promise<ExecutionResult> {
  const found = await sessions.execute(session, {
    blocks: [{ language: "count", code: "" }],
    timeoutMs: 1000,
    keyed: { key, fingerprint: "" },
  });
  return found instanceof Execution ? found.result : found;
}
