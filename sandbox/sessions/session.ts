import { ProblemError } from "../problem.ts";
import type { Isolation } from "../runner.ts";
import { Execution, type ExecutionRequest } from "./execution.ts";
import { endingCode } from "./ended-by.ts";
import type { Gate } from "./gate.ts";
import { Interpreter } from "./interpreter.ts";
import type { ExecutionResult, Keyed, Recorded } from "./manifest.ts";
import { type ExecutionLimits, runBlocks } from "./run-blocks.ts";
import type { SessionState } from "./state.ts";
import { apply, difference, type Workspace } from "./workspace.ts";

export interface SessionOptions {
  isolation: Isolation;
  limits: ExecutionLimits;
  /** Results that are kept for repeated keys. */
  recordedResults: number;
  /** Of all sessions together. */
  gate: Gate;
  /** Aborted when the service ends: what it then kills has no result. */
  closing: AbortSignal;
  log: (error: unknown) => void;
}

/** Longer outputs stand in a blob, so that the manifest stays quick to write. */
const MAX_INLINE_OUTPUT = 4096;

/** Runs code of one session, a request at a time, and records the results. */
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

  /** Whether an interpreter is kept ready. */
  get warm(): boolean {
    return this.#interpreter.warm;
  }

  /**
   * What there is under a key: the record of an execution, or one that has not ended.
   *
   * @throws ProblemError 409 when the key stands for another request
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

  /** Takes a request on that nothing was found for. It runs when those before it have ended. */
  start(request: ExecutionRequest): Execution {
    const execution = new Execution(request, this.#options.limits.outputBytes);
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

  /** Stops what runs or waits under a key. Resolves once it has ended; false when there is nothing. */
  async cancel(key: string): Promise<boolean> {
    const execution = this.#running(key);
    if (execution === undefined) return false;
    execution.cancel();
    await execution.result.catch(() => undefined);
    return true;
  }

  /** Stops everything. Resolves once all has ended. */
  async close(): Promise<void> {
    for (const execution of this.#executions) execution.cancel();
    await this.#queue;
    await this.#interpreter.close();
  }

  /** What was cancelled and has not ended yet can no longer be joined. */
  #running(key: string): Execution | undefined {
    return [...this.#executions].find(
      ({ request, signal }) => request.keyed?.key === key && !signal.aborted,
    );
  }

  async #execute(execution: Execution): Promise<ExecutionResult> {
    const leave = await this.#options.gate.enter(execution.signal);
    try {
      return await this.state.using(() => this.#run(execution));
    } finally {
      leave?.();
    }
  }

  async #run(execution: Execution): Promise<ExecutionResult> {
    const { keyed } = execution.request;
    if (keyed && this.#options.isolation.reachesOut)
      await this.state.update((current) => ({ ...current, begun: keyed }));
    const started = performance.now();
    const before = this.state.current.workspace;
    const { exitCode, workspace } = await runBlocks(execution, before, {
      ...this.#options,
      interpreter: this.#interpreter,
    });
    const result: ExecutionResult = {
      exit_code: exitCode,
      output: execution.output.text,
      truncated: execution.output.truncated,
      duration_ms: Math.round(performance.now() - started),
    };
    if (execution.signal.aborted && exitCode === endingCode("cancelled")) await this.#forgetBegun();
    else await this.#record(keyed, result, { before, after: workspace });
    return result;
  }

  /** What was cancelled leaves nothing behind: who asks again under its key wants it to run, as a retried run does. */
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
      // Files that clients put meanwhile stay, unless the code wrote the same ones.
      workspace: apply(workspace, change),
      results: [...results, ...recorded].slice(-this.#options.recordedResults),
    }));
  }

  async #keep(output: string): Promise<Recorded["output"]> {
    if (output.length <= MAX_INLINE_OUTPUT) return { text: output };
    return { blob: await this.state.store.put(output) };
  }
}

function requireSame(known: Keyed | undefined, given: Keyed): void {
  if (known?.fingerprint === given.fingerprint) return;
  throw new ProblemError(
    409,
    "idempotency_mismatch",
    "This Idempotency-Key was used for another request.",
  );
}
