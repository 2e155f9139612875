import { errorMessage, TroupeError } from "../errors.ts";
import { hashId } from "../hash.ts";
import { asJson } from "../json.ts";
import { countAttempts, outlookOf, retryDelay } from "../steps/retry.ts";
import { isTurnSignal, TurnSignal } from "../steps/signals.ts";
import type { StepAttempt, StepCache, StepSubject } from "../steps/step-attempt.ts";
import { Cuttable } from "./cuttable-calls.ts";
import { type Reader, steeredError } from "./steering.ts";
import type { Answer, Question, StreamStepOptions } from "./turn-context.ts";
import {
  mayRun,
  type Moment,
  type StepAhead,
  type StepOutcome,
  type StepRecord,
  type TurnHost,
} from "./turn-host.ts";

/** The part of a scope that its steps use. */
export interface StepScope {
  readonly host: TurnHost;
  /** Path of the scope. */
  readonly path: string;
  /** The reader of what comes into the run; undefined in tools. */
  readonly reader: Reader | undefined;
  /** Throws a signal when no effect may start. */
  gate(): void;
  /** Moves the scope's time forward. */
  advance(time: Moment): void;
  ask(question: Question): Promise<Answer>;
}

/** One step: its record, its attempts and their outcomes. */
export class Step<T> implements StepAhead {
  readonly #scope: StepScope;
  readonly #key: string;
  readonly #path: string;
  readonly #options: StreamStepOptions<T>;
  #fingerprint: string | undefined;
  #attempt = 0;
  #failingSince: number | undefined;
  /** Failure of the last attempt. */
  #error: unknown;
  /** Milliseconds before the next attempt. */
  #delay = 0;
  /** Cache entries of the current attempt, written together with its result. */
  #keep: (() => void)[] = [];
  /** Present in a step that a message may cut. */
  #cuttable: Cuttable | undefined;

  /** @param key in the scope; the step's path is below the scope's */
  constructor(scope: StepScope, key: string, path: string, options: StreamStepOptions<T>) {
    this.#scope = scope;
    this.#key = key;
    this.#path = path;
    this.#options = options;
  }

  /** Its path in the turn. */
  get key(): string {
    return this.#path;
  }

  get subject(): StepSubject | undefined {
    return this.#options.subject;
  }

  get isRemote(): boolean {
    const { kind, remote = kind === "model" } = this.#options;
    return remote;
  }

  /** The recorded result, or undefined when the step has to run. */
  async recorded(): Promise<{ value: T } | undefined> {
    const { host, path } = this.#scope;
    let record = host.recall(this.#path);
    if (record && record.fingerprint !== this.#fingerprintOf()) {
      host.invalidate(path, this.#path);
      record = host.recall(this.#path);
    }
    if (record?.outcome) return { value: this.#replay(record.outcome) };
    this.#attempt = record?.attempt ?? 0;
    this.#failingSince = record?.failingSince;
    if (record && !mayRun(record)) {
      const again = record.policy === "ask" && (await this.#askAgain());
      if (!again) return { value: this.#unknown() };
    }
    this.#scope.gate();
    return undefined;
  }

  /** Undefined when the next attempt may begin at once; otherwise resolves when it may. */
  reserve(): Promise<void> | undefined {
    const { estimate } = this.#options;
    return estimate && this.#scope.host.reserve?.(this.#path, estimate, () => this.#scope.gate());
  }

  /** The attempt that was reserved for has ended. */
  release(): void {
    if (this.#options.estimate) this.#scope.host.release?.(this.#path);
  }

  begin(): StepAttempt {
    this.#scope.gate();
    const { host } = this.#scope;
    this.#attempt++;
    const cuttable = this.#mayBeCut();
    host.stepStarted(this.#path, this.#record());
    this.#keep = [];
    const { input, request, subject, messageId, isAnswer = false } = this.#options;
    const asks = (model: string | undefined): void => {
      if (input) host.calls?.(this.#path, { model, input, messageId, isAnswer });
    };
    asks(subject?.name);
    const trace = host.traceContext?.(this.#path);
    const attempt: StepAttempt = {
      attempt: this.#attempt,
      scope: this.#scope.path,
      ...(this.#failingSince !== undefined && { failingMs: this.#failingMs }),
      // Sent as a header, which takes ASCII only; names of agents may be in any script.
      idempotencyKey: encodeURI(`${host.turnId}/${this.#path}`),
      signal: cuttable ? AbortSignal.any([host.signal, cuttable.signal]) : host.signal,
      asks: (model) => {
        if (cuttable) cuttable.model = model;
        asks(model);
      },
      ...(cuttable && { arrived: () => void (cuttable.hasArrived = true) }),
      startOver: () => {
        if (messageId !== undefined) host.discard(messageId);
      },
      ...(host.spent && { spent: (usage) => host.spent?.(this.#path, usage) }),
      ...(host.session !== undefined && { session: host.session }),
      // Looked up when something reads it: few steps do.
      get files() {
        return host.files ?? [];
      },
      ...(host.logins && { logins: host.logins }),
      ...(host.flush && { flush: () => host.flush?.() }),
      ...(host.cache && { cache: bufferedCache(host.cache, this.#keep) }),
      ...(trace && { trace }),
      ...(host.hops !== undefined && { hops: host.hops }),
      ...(host.abandon && { abandon: (work) => host.abandon?.(work) }),
    };
    host.shows?.(this.#path, request?.(attempt));
    return attempt;
  }

  /** Returns the value as JSON restores it, as a repeated turn gets it, not the object the effect made. */
  end(value: T): T {
    const ok = asJson(value);
    const time = this.#scope.host.clock();
    this.#scope.host.ended(this.#path, this.#ended({ ok, time }));
    // No await in between, so that the host stores both together.
    for (const keep of this.#keep) keep();
    this.#scope.advance(time);
    return ok as T;
  }

  /**
   * Returns the result of a step that has no further attempt, or undefined when another one is allowed. A step that must not
   * run twice is repeated only where nothing was sent.
   *
   * @throws the error where it is the end of the step
   */
  failed(error: unknown): { value: T } | undefined {
    if (isTurnSignal(error)) throw error;
    if (this.#scope.host.signal.aborted) throw new TurnSignal("cancel");
    const { retryable, unsent } = outlookOf(error);
    if (!retryable) throw this.#recordFailure(error);
    const failed = { attempt: this.#attempt, failingMs: this.#failingMs, error };
    const options = this.#options;
    const mayRepeat = this.#policy === "retry" || unsent;
    const delay = mayRepeat ? retryDelay(failed, options.retry?.(error)) : undefined;
    if (delay === undefined) {
      countAttempts(failed);
      if (options.exhausted === undefined) throw this.#recordFailure(error);
      this.#keep = [];
      return { value: this.end(options.exhausted(error)) };
    }
    this.#failingSince ??= this.#scope.host.clock().at;
    this.#error = error;
    this.#delay = delay;
    return undefined;
  }

  /** True if a message into the run has cut it. */
  get isCut(): boolean {
    return this.#cuttable?.isCut ?? false;
  }

  /**
   * Records that the call was cut. Its maker charges for the input.
   *
   * @param error what the attempt under way has thrown; undefined between two attempts
   * @returns what the step throws
   */
  async cutOff(error?: unknown): Promise<unknown> {
    const { host } = this.#scope;
    if (isTurnSignal(error)) return error;
    const { model, wasSent } = this.#cuttable ?? {};
    const { estimate, messageId } = this.#options;
    if (wasSent && error !== undefined) {
      const input = await estimate?.();
      if (!host.signal.aborted) {
        host.steering?.wasCut(this.#path, model ?? input?.model, input?.prompt_tokens ?? 0);
      }
    }
    if (host.signal.aborted) return new TurnSignal("cancel");
    if (messageId !== undefined) host.discard(messageId);
    return this.#recordFailure(steeredError());
  }

  /** It has ended. */
  leave(): void {
    if (this.#cuttable) this.#scope.host.steering?.ended(this.#cuttable);
  }

  /** Registers a call that a message into the run may cut. @throws the error of a cut call if there is a message already */
  #mayBeCut(): Cuttable | undefined {
    const { reader, host } = this.#scope;
    const { steerable, messageId } = this.#options;
    if (!steerable || reader === undefined || host.steering === undefined) return undefined;
    const { model } = this.#cuttable ?? {};
    if (this.#cuttable) host.steering.ended(this.#cuttable);
    this.#cuttable = new Cuttable(this.#path, reader, messageId);
    this.#cuttable.model = model;
    host.steering.begins(this.#cuttable);
    if (this.#cuttable.isCut) throw steeredError();
    this.#cuttable.wasSent = true;
    return this.#cuttable;
  }

  /** Waits for the next attempt. */
  async backoff(): Promise<void> {
    await this.#scope.host.backoff(this.#path, this.#delay, {
      attempt: this.#attempt,
      failingSince: this.#failingSince ?? 0,
      error: this.#error,
    });
  }

  get #failingMs(): number {
    const since = this.#failingSince;
    return since === undefined ? 0 : Math.max(0, this.#scope.host.clock().at - since);
  }

  get #policy() {
    return this.#options.policy ?? "retry";
  }

  /** A fingerprint is made when the host reads it. */
  #record(): Omit<StepRecord, "outcome"> {
    const { kind = "effect", subject } = this.#options;
    const fingerprint = (): string => this.#fingerprintOf();
    return {
      kind,
      policy: this.#policy,
      attempt: this.#attempt,
      ...(this.#failingSince !== undefined && { failingSince: this.#failingSince }),
      get fingerprint() {
        return fingerprint();
      },
      ...(subject && { subject }),
    };
  }

  #ended(outcome: StepOutcome): StepRecord & { outcome: StepOutcome } {
    return Object.assign(this.#record(), { outcome });
  }

  #fingerprintOf(): string {
    const { fingerprint = "" } = this.#options;
    this.#fingerprint ??= typeof fingerprint === "string" ? fingerprint : fingerprint();
    return this.#fingerprint;
  }

  #replay(outcome: StepOutcome): T {
    this.#scope.advance(outcome.time);
    if ("error" in outcome) {
      const { code, message, name, retryable } = outcome.error;
      const error = Object.assign(new TroupeError(code, message), {
        name,
        ...(retryable && { retryable }),
      });
      this.#scope.host.threw(this.#path, error);
      throw error;
    }
    const value = outcome.ok as T;
    this.#options.onReplay?.(value);
    return value;
  }

  /** The step had started when the host died, and must not run again. */
  #unknown(): T {
    const message =
      "The outcome is unknown: the service was interrupted while this was running. It may or may not have taken effect.";
    const options = this.#options;
    if (options.unknownOutcome) return this.end(options.unknownOutcome(message));
    throw this.#recordFailure(new TroupeError("outcome_unknown", message));
  }

  /** The question takes no id of the scope: a pass that finds the step's result does not ask, and later ids must match. */
  async #askAgain(): Promise<boolean> {
    const { host, path } = this.#scope;
    const answer = await this.#scope.ask({
      id: hashId(`${host.turnId}/${this.#path}?${this.#attempt}`),
      kind: "approval",
      source: path,
      prompt: `"${this.#key}" was interrupted and may have taken effect. Run it again?`,
    });
    return "approved" in answer && answer.approved;
  }

  /** Agent code may turn the error into a result; a repeated turn must get the same error. */
  #recordFailure(error: unknown): unknown {
    const { host } = this.#scope;
    const code = error instanceof TroupeError ? error.code : "run_failed";
    const name = error instanceof Error ? error.name : "Error";
    const time = host.clock();
    const failure = {
      code,
      message: errorMessage(error),
      name,
      ...(outlookOf(error).retryable && ({ retryable: true } as const)),
    };
    host.ended(this.#path, this.#ended({ error: failure, time }));
    host.threw(this.#path, error);
    this.#scope.advance(time);
    return error;
  }
}

/** A cache whose writes wait in `keep` for the result of the step. */
function bufferedCache(cache: StepCache, keep: (() => void)[]): StepCache {
  return {
    get: (key) => cache.get(key),
    set: (...entry) =>
      keep.push(() => {
        try {
          cache.set(...entry);
        } catch {
          // An entry that is lost costs one avoidable call later. The step's result is recorded and stays valid.
        }
      }),
  };
}
