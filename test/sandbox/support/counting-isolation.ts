import type {
  BlockResult,
  BlockRun,
  CodeBlock,
  Isolation,
  Runner,
  WorkspaceChange,
} from "../../../sandbox/runner.ts";
import { Execution } from "../../../sandbox/sessions/execution.ts";
import type { ExecutionResult } from "../../../sandbox/sessions/manifest.ts";
import { Sessions } from "../../../sandbox/sessions/sessions.ts";

/** So long that a manifest does not have it in itself. */
const LONG = ".".repeat(5000);

/** An isolation whose every block adds 1 to the number in the file `counter` and prints it. */
class CountingIsolation implements Isolation {
  readonly name = "wasm";
  readonly languages = [{ name: "count", aliases: [], version: "1" }];
  readonly reachesOut: boolean;

  constructor(reachesOut: boolean) {
    this.reachesOut = reachesOut;
  }

  async start(): Promise<void> {}

  async runner(): Promise<Runner> {
    return new CountingRunner();
  }

  async close(): Promise<void> {}
}

class CountingRunner implements Runner {
  usable = true;
  #count = 0;

  async update({ set }: WorkspaceChange): Promise<void> {
    for (const entry of set)
      if (entry.path === "counter" && entry.type === "file")
        this.#count = Number(Buffer.from(entry.content).toString());
  }

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
  }
}

/** The sessions of a data directory, in which only counting is possible. */
export function countingSessions(data: string, reachesOut: boolean): Promise<Sessions> {
  return Sessions.open({
    data,
    isolation: new CountingIsolation(reachesOut),
    memoryBytes: 1e9,
    workspaceBytes: 1e6,
    workspaceFiles: 100,
    outputBytes: 1e6,
    maxOutputBytes: 1e6,
    maxSessions: 10,
    concurrency: 1,
    maxWaiting: 10,
    recordedResults: 10,
    idleSeconds: 3600,
    warmSeconds: 3600,
    maxWarm: 1,
    log: (error) => {
      throw error;
    },
  });
}

/** Counts once, under a key. */
export async function count(sessions: Sessions, key: string): Promise<ExecutionResult> {
  const found = await sessions.execute("s", {
    blocks: [{ language: "count", code: "" }],
    timeoutMs: 1000,
    keyed: { key, fingerprint: "" },
  });
  return found instanceof Execution ? found.result : found;
}
