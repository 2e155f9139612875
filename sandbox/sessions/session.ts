import { ProblemError } from "../problem.ts";
import type { Isolation } from "../runner.ts";
import { Execution, type ExecutionRequest, type FolderRequest } from "./execution.ts";
import { Interpreter, type OpenFolder } from "./interpreter.ts";
import type { ExecutionResult, Keyed, Recorded } from "./manifest.ts";
import { type ExecutionLimits, runBlocks } from "./run-blocks.ts";
import type { Job, Place, Scheduler } from "./scheduler.ts";
import type { SessionState } from "./state.ts";
import { terminationCode } from "./termination.ts";
import { apply, difference, type Workspace } from "./workspace.ts";

export interface SessionOptions {
  /** The name of the session. */
  name: string;
  isolation: Isolation;
  limits: ExecutionLimits;
  /** How many results are kept for repeated keys. */
  recordedResults: number;
  /** Shared by all sessions. */
  scheduler: Scheduler;
  /** Aborted when the service shuts down: executions that it kills have no result. */
  closing: AbortSignal;
  /** Finds the files of another session. @throws ProblemError 422 */
  openFolder: (folder: FolderRequest) => Promise<OpenFolder>;
  log: (error: unknown) => void;
}

/** In characters. Longer outputs are stored as blobs, so that the manifest stays quick to write. */
const MAX_INLINE_OUTPUT = 4096;

/** Runs the code of one session, one request at a time, and records the results. */
export class Session {
  readonly state: SessionState;
  readonly #options: SessionOptions;
  readonly #interpreter: Interpreter;
  readonly #executions = new Set<Execution>();
  #queue: Promise<unknown> = Promise.resolve();

  constructor(state: SessionState, options: SessionOptions) {
    this.state = state;
    this.#options = options;
    this.#interpreter = new Interpreter(options.isolation, state.store, options.log);
  }

  /** Whether an interpreter is ready. */
  get warm(): boolean {
    return this.#interpreter.warm;
  }

  /**
   * Finds an execution by its key: a recorded one, or one that has not ended.
   *
   * @throws ProblemError 409 when the key was used for another request
   */
  find(keyed: Keyed): { recorded: Recorded } | { running: Execution } | undefined {
    const running = this.#running(keyed.key);
    if (running !== undefined) {
      requireSame(running.request.keyed, keyed);
      return { running };
    }
    const recorded = this.state.current.results.findLast(({ key }) => key === keyed.key);
    if (recorded === undefined) return undefined;
    requireSame(recorded, keyed);
    return { recorded };
  }

  /** How many executions run or wait. */
  get pending(): number {
    return this.#executions.size;
  }

  /** Starts a request that `find` does not know. It runs when the requests before it have ended. */
  start(request: ExecutionRequest): Execution {
    const execution = new Execution(request, this.#options.limits.outputBytes);
    if (this.#executions.size > 0) execution.setWaiting("session");
    this.#executions.add(execution);
    const result = this.#queue
      .then(() => this.#execute(execution))
      .finally(() => this.#executions.delete(execution));
    this.#queue = result.catch(() => undefined);
    execution.settle(result);
    return execution;
  }

  /** The result that was recorded. */
  async read({ result, output }: Recorded): Promise<ExecutionResult> {
    if ("text" in output) return { ...result, output: output.text };
    const bytes = await this.state.using(() => this.state.store.read(output.blob));
    return { ...result, output: bytes.toString() };
  }

  /** Cancels the execution with this key. Resolves once it has ended; false when none runs or waits. */
  async cancel(key: string): Promise<boolean> {
    const execution = this.#running(key);
    if (execution === undefined) return false;
    execution.cancel();
    await execution.result.catch(() => undefined);
    return true;
  }

  /** Cancels all executions. Resolves when the last one has ended. */
  async close(): Promise<void> {
    for (const execution of this.#executions) execution.cancel();
    await this.#queue;
    await this.#interpreter.close();
  }

  /** An execution that was cancelled cannot be joined, even if it has not ended yet. */
  #running(key: string): Execution | undefined {
    return [...this.#executions].find(
      ({ request, signal }) => request.keyed?.key === key && !signal.aborted,
    );
  }

  async #execute(execution: Execution): Promise<ExecutionResult> {
    const { name, scheduler, isolation } = this.#options;
    const { blocks, timeoutMs } = execution.request;
    const job: Job = {
      session: name,
      limitMs: blocks.length * timeoutMs,
      repeatable: !isolation.hasOutsideEffects,
      signal: execution.signal,
      onWait: () => execution.setWaiting("places"),
    };
    for (;;) {
      const place = await scheduler.enter(job);
      execution.setWaiting(undefined);
      try {
        const result = await this.state.using(() => this.#run(execution, place));
        if (result !== undefined) return result;
      } finally {
        place?.leave();
      }
      execution.output.clear();
      execution.setWaiting("interrupted");
      job.onWait = () => undefined;
    }
  }

  /** @returns the result; undefined when the execution was interrupted and has to run again */
  async #run(execution: Execution, place: Place | undefined): Promise<ExecutionResult | undefined> {
    const { keyed } = execution.request;
    if (keyed && this.#options.isolation.hasOutsideEffects)
      await this.state.update((current) => ({ ...current, begun: keyed }));
    const started = performance.now();
    const before = this.state.current.workspace;
    const ran = await runBlocks(execution, before, {
      ...this.#options,
      interpreter: this.#interpreter,
      place,
      folders: await Promise.all((execution.request.folders ?? []).map(this.#options.openFolder)),
    });
    if (ran === "interrupted") return undefined;
    const { exitCode, workspace } = ran;
    const result: ExecutionResult = {
      exit_code: exitCode,
      output: execution.output.text,
      truncated: execution.output.truncated,
      duration_ms: Math.round(performance.now() - started),
      files: writtenFiles(before, workspace),
    };
    if (execution.signal.aborted && exitCode === terminationCode("cancelled"))
      await this.#forgetBegun();
    else await this.#record(keyed, result, { before, after: workspace });
    return result;
  }

  /** A cancelled execution leaves nothing behind: the same key runs the code again, as a retried run does. */
  async #forgetBegun(): Promise<void> {
    if (this.state.current.begun === undefined) return;
    await this.state.update(({ workspace, results }) => ({ workspace, results }));
  }

  /** Makes the files and the result of an execution visible together. */
  async #record(
    keyed: Keyed | undefined,
    { output, ...result }: ExecutionResult,
    { before, after }: { before: Workspace; after: Workspace },
  ): Promise<void> {
    const recorded: Recorded[] =
      keyed === undefined ? [] : [{ ...keyed, result, output: await this.#keep(output) }];
    const change = difference(before, after);
    await this.state.update(({ workspace, results }) => ({
      // Files that clients wrote in the meantime stay, unless the code wrote the same ones.
      workspace: apply(workspace, change),
      results: [...results, ...recorded].slice(-this.#options.recordedResults),
    }));
  }

  async #keep(output: string): Promise<Recorded["output"]> {
    if (output.length <= MAX_INLINE_OUTPUT) return { text: output };
    return { blob: await this.state.store.put(output) };
  }
}

const MOST_NAMED_FILES = 50;

function writtenFiles(before: Workspace, after: Workspace): string[] {
  const files = [...difference(before, after).set].filter(([, { type }]) => type === "file");
  return files.slice(0, MOST_NAMED_FILES).map(([path]) => path);
}

function requireSame(known: Keyed | undefined, given: Keyed): void {
  if (known?.fingerprint === given.fingerprint) return;
  throw new ProblemError(
    409,
    "idempotency_mismatch",
    "This Idempotency-Key was used for another request.",
  );
}
