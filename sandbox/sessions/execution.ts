import type { CodeBlock } from "../runner.ts";
import type { ExecutionResult, Keyed } from "./manifest.ts";
import { Output } from "./output.ts";

/** A folder that code can read and not change: the files of another session. */
export interface FolderRequest {
  name: string;
  session: string;
  /** The number of its files. */
  files: number;
}

export interface ExecutionRequest {
  blocks: readonly CodeBlock[];
  /** Environment variables of the blocks. Their values do not appear in the output. */
  env?: Readonly<Record<string, string>> | undefined;
  /** Files of other sessions, read-only. */
  folders?: readonly FolderRequest[] | undefined;
  /** The time limit of each block. */
  timeoutMs: number;
  /** The key under which the result is recorded, with a hash of the request. */
  keyed?: Keyed | undefined;
}

/**
 * Why an execution waits: for an earlier request of its session, for a place among all sessions, or because it was interrupted
 * to make room for another session. An interrupted execution starts again from its beginning.
 */
export type WaitReason = "session" | "places" | "interrupted";

/** An accepted request to execute code: it waits, runs, and has a result in the end. */
export class Execution {
  readonly request: ExecutionRequest;
  readonly output: Output;
  /** Rejects with a ProblemError when the sandbox failed, not the code. */
  readonly result: Promise<ExecutionResult>;
  readonly #stop = new AbortController();
  readonly #settle: PromiseWithResolvers<ExecutionResult>;
  readonly #watchers = new Set<(waiting: WaitReason | undefined) => void>();
  #waiting: WaitReason | undefined;

  constructor(request: ExecutionRequest, outputBytes: number) {
    this.request = request;
    this.output = new Output(outputBytes, request.env);
    this.#settle = Promise.withResolvers();
    this.result = this.#settle.promise;
    // Without a client that waits for it, a rejection would be unhandled.
    this.result.catch(() => undefined);
  }

  /** Aborted when the execution is cancelled. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  cancel(): void {
    this.#stop.abort();
  }

  settle(result: Promise<ExecutionResult>): void {
    this.#settle.resolve(result);
  }

  /** Says that the execution waits, or, with undefined, that it runs. */
  setWaiting(reason: WaitReason | undefined): void {
    if (reason === this.#waiting) return;
    this.#waiting = reason;
    for (const watcher of this.#watchers) watcher(reason);
  }

  /** Calls with the reason if it waits, and then with each change, until the returned function is called. */
  watchWaiting(watcher: (waiting: WaitReason | undefined) => void): () => void {
    if (this.#waiting !== undefined) watcher(this.#waiting);
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }
}
