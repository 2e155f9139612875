import type { CodeBlock } from "../runner.ts";
import type { ExecutionResult, Keyed } from "./manifest.ts";
import { Output } from "./output.ts";

export interface ExecutionRequest {
  blocks: readonly CodeBlock[];
  /** Of each block. */
  timeoutMs: number;
  /** Under which the result is recorded, with a hash of the request. */
  keyed?: Keyed | undefined;
}

/** A request to execute that was taken on: it waits, runs, and has a result in the end. */
export class Execution {
  readonly request: ExecutionRequest;
  readonly output: Output;
  /** Rejects with a ProblemError where the sandbox failed, not the code. */
  readonly result: Promise<ExecutionResult>;
  readonly #stop = new AbortController();
  readonly #settle: PromiseWithResolvers<ExecutionResult>;

  constructor(request: ExecutionRequest, outputBytes: number) {
    this.request = request;
    this.output = new Output(outputBytes);
    this.#settle = Promise.withResolvers();
    this.result = this.#settle.promise;
    // Somebody may ask for it later; nobody needs to.
    this.result.catch(() => undefined);
  }

  /** Aborted once it is cancelled. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  cancel(): void {
    this.#stop.abort();
  }

  settle(result: Promise<ExecutionResult>): void {
    this.#settle.resolve(result);
  }
}
