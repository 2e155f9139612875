import { errorMessage, TroupeError } from "../errors.ts";
import { hashId } from "../ids.ts";
import { asJson } from "../json.ts";
import { runBranches } from "./branches.ts";
import { Semaphore } from "./semaphore.ts";
import { isTurnSignal, TurnSignal } from "./signals.ts";
import type {
  AllOptions,
  Answer,
  Branch,
  Question,
  StepAttempt,
  StepCache,
  StepOptions,
  StreamOptions,
  TurnContext,
} from "./turn-context.ts";
import type { BranchFailure, Moment, StepOutcome, TurnHost } from "./turn-host.ts";

/** Cloudflare allows six connections at once per request; one stays free for the host's own use. */
const PARALLEL_EFFECTS = 5;

/** What all scopes of one turn share. */
interface Shared {
  host: TurnHost;
  effects: Semaphore;
  /** Step and scope keys in use: one used twice would make two things share a journal entry or an id. */
  keys: Set<string>;
}

/** Branches that stop together: one that fails halts its siblings, not what lies outside. */
interface Group {
  halted: boolean;
  parent: Group | undefined;
}

/** The turn context of every host: keys, ids, time and the rules about steps. What is recorded is the host's business. */
export class TurnScope implements TurnContext {
  readonly #shared: Shared;
  readonly #group: Group;
  readonly #path: string;
  readonly #parent: TurnScope | undefined;
  /** Whether it runs in line with its parent, not beside others: then its steps move the parent's time, too. */
  readonly #inline: boolean;
  #ids = 0;
  #time: Moment;
  #stepping = false;

  private constructor(
    shared: Shared,
    group: Group,
    path: string,
    time: Moment,
    parent: TurnScope | undefined,
    inline: boolean,
  ) {
    this.#shared = shared;
    this.#group = group;
    this.#path = path;
    this.#time = time;
    this.#parent = parent;
    this.#inline = inline;
  }

  /** The outermost scope of a turn. */
  static root(host: TurnHost): TurnScope {
    const shared = { host, effects: new Semaphore(PARALLEL_EFFECTS), keys: new Set<string>() };
    const group = { halted: false, parent: undefined };
    return new TurnScope(shared, group, "", host.started, undefined, false);
  }

  get signal(): AbortSignal {
    return this.#shared.host.signal;
  }

  get stopRequested(): boolean {
    return this.#parent === undefined && this.#shared.host.stopRequested;
  }

  now(): string {
    return new Date(this.#time.at).toISOString();
  }

  get elapsedMs(): number {
    return this.#time.ran;
  }

  id(): string {
    return hashId(`${this.#shared.host.turnId}/${this.#path}#${this.#ids++}`);
  }

  scope(key: string): TurnScope {
    return this.#child(key, this.#group, true);
  }

  async *all<Item, Result>(
    branches: readonly Branch<Item, Result>[],
    { inTurn = false }: AllOptions = {},
  ): AsyncGenerator<Item, Result[], void> {
    const group: Group = { halted: false, parent: this.#group };
    const scopes = branches.map(({ key }) => this.#child(key, group, false));
    const failures: BranchFailure[] = [];
    try {
      const results = yield* runBranches(
        branches.map((branch, index) => branch.run(scopes[index] as TurnScope)),
        (index, error) => {
          group.halted = true;
          failures.push({ scope: (scopes[index] as TurnScope).#path, error });
        },
        inTurn,
      );
      for (const scope of scopes) this.#advance(scope.#time);
      return results;
    } finally {
      if (failures.length > 0) this.#shared.host.failed(failures);
    }
  }

  async step<T>(
    key: string,
    effect: (attempt: StepAttempt) => Promise<T>,
    options: StepOptions<T> = {},
  ): Promise<T> {
    const path = this.#enter(key);
    const { effects } = this.#shared;
    try {
      const step = await this.#open(key, path, options);
      if ("value" in step) return step.value;
      for (;;) {
        await effects.acquire();
        try {
          const attempt = this.#begin(step, options);
          return this.#end(step, await effect(attempt), options);
        } catch (error) {
          this.#failed(step, error, options);
          step.error = error;
        } finally {
          effects.release();
        }
        await this.#backoff(step, options);
      }
    } finally {
      this.#stepping = false;
    }
  }

  async *stream<C, T>(
    key: string,
    effect: (attempt: StepAttempt) => AsyncGenerator<C, T, void>,
    options: StreamOptions<T> = {},
  ): AsyncGenerator<C, T, void> {
    const path = this.#enter(key);
    const { effects, host } = this.#shared;
    try {
      const step = await this.#open(key, path, options);
      if ("value" in step) return step.value;
      for (;;) {
        await effects.acquire();
        try {
          const attempt = this.#begin(step, options);
          return this.#end(step, yield* effect(attempt), options);
        } catch (error) {
          this.#failed(step, error, options);
          step.error = error;
        } finally {
          effects.release();
        }
        if (options.messageId !== undefined) host.discard(options.messageId);
        await this.#backoff(step, options);
      }
    } finally {
      this.#stepping = false;
    }
  }

  async ask(question: Question): Promise<Answer> {
    this.#refuseInsideStep(question.id);
    return this.#ask(question);
  }

  async #ask(question: Question): Promise<Answer> {
    this.#gate();
    const { answer, time } = await this.#shared.host.answer(question);
    this.#advance(time);
    return answer;
  }

  #child(key: string, group: Group, inline: boolean): TurnScope {
    this.#refuseInsideStep(key);
    const path = this.#claim(key);
    return new TurnScope(this.#shared, group, path, this.#time, this, inline);
  }

  /** Begins a step; the scope is taken at once, so that another begun in the same breath is noticed. */
  #enter(key: string): string {
    this.#refuseInsideStep(key);
    const path = this.#claim(key);
    this.#stepping = true;
    return path;
  }

  /** A result that is recorded already, or the step to run. */
  async #open<T>(
    key: string,
    path: string,
    options: StepOptions<T>,
  ): Promise<OpenStep | { value: T }> {
    const { host } = this.#shared;
    const fingerprint = options.fingerprint ?? "";
    let record = host.recall(path);
    if (record && record.fingerprint !== fingerprint) {
      host.invalidate(this.#path, path);
      record = host.recall(path);
    }
    if (record?.outcome) return { value: this.#replay<T>(path, record.outcome, options) };
    const attempt = record?.attempt ?? 0;
    const step: OpenStep = { path, fingerprint, attempt, error: undefined, keep: [] };
    if (record && record.policy !== "retry") {
      const again = record.policy === "ask" && (await this.#askAgain(key, step));
      if (!again) return { value: this.#unknown(step, options) };
    }
    this.#gate();
    return step;
  }

  #replay<T>(path: string, outcome: StepOutcome, options: StepOptions<T>): T {
    this.#advance(outcome.time);
    if ("error" in outcome) {
      const { code, message, name } = outcome.error;
      const error = new TroupeError(code, message);
      error.name = name;
      this.#shared.host.threw(path, error);
      throw error;
    }
    const value = outcome.ok as T;
    options.onReplay?.(value);
    return value;
  }

  /** The step had begun when the host died, and must not run again. */
  #unknown<T>(step: OpenStep, options: StepOptions<T>): T {
    const message =
      "The outcome is unknown: the service was interrupted while this was running. It may or may not have taken effect.";
    if (options.unknownOutcome) return this.#end(step, options.unknownOutcome(message), options);
    throw this.#recordFailure(step, new TroupeError("outcome_unknown", message), options);
  }

  /** The question's id is not one of the scope's: a pass that finds the step's result would not take it. */
  async #askAgain(key: string, { path, attempt }: OpenStep): Promise<boolean> {
    const answer = await this.#ask({
      id: hashId(`${this.#shared.host.turnId}/${path}?${attempt}`),
      kind: "approval",
      source: this.#path,
      prompt: `"${key}" was interrupted and may have taken effect. Run it again?`,
    });
    return "approved" in answer && answer.approved;
  }

  #begin<T>(step: OpenStep, options: StepOptions<T>): StepAttempt {
    this.#gate();
    const { host } = this.#shared;
    step.attempt++;
    host.begun(step.path, {
      policy: options.policy ?? "retry",
      attempt: step.attempt,
      fingerprint: step.fingerprint,
    });
    step.keep = [];
    return {
      attempt: step.attempt,
      // It is sent as a header, and agents have names in any script.
      idempotencyKey: encodeURI(`${host.turnId}/${step.path}`),
      signal: host.signal,
      ...(host.cache && { cache: heldBack(host.cache, step.keep) }),
    };
  }

  /** Returns what a turn that runs again gets, not what the effect made: objects may lose something as JSON. */
  #end<T>(step: OpenStep, value: T, options: StepOptions<T>): T {
    const ok = asJson(value);
    const time = this.#shared.host.clock();
    this.#shared.host.ended(step.path, {
      policy: options.policy ?? "retry",
      attempt: step.attempt,
      fingerprint: step.fingerprint,
      outcome: { ok, time },
    });
    // Without an await in between: what a host writes then is stored together.
    for (const keep of step.keep) keep();
    this.#advance(time);
    return ok as T;
  }

  /** Returns only when another attempt may be made. */
  #failed<T>(step: OpenStep, error: unknown, options: StepOptions<T>): void {
    if (isTurnSignal(error)) throw error;
    if (this.signal.aborted) throw new TurnSignal("cancel");
    if ((options.policy ?? "retry") === "retry" && isRetryable(error)) return;
    throw this.#recordFailure(step, error, options);
  }

  /** Agent code may make a result of the error: run again, the turn has to see the same one. */
  #recordFailure<T>(step: OpenStep, error: unknown, options: StepOptions<T>): unknown {
    const { host } = this.#shared;
    const code = error instanceof TroupeError ? error.code : "run_failed";
    const name = error instanceof Error ? error.name : "Error";
    const time = host.clock();
    host.ended(step.path, {
      policy: options.policy ?? "retry",
      attempt: step.attempt,
      fingerprint: step.fingerprint,
      outcome: { error: { code, message: errorMessage(error), name }, time },
    });
    host.threw(step.path, error);
    this.#advance(time);
    return error;
  }

  async #backoff<T>(step: OpenStep, options: StepOptions<T>): Promise<void> {
    try {
      await this.#shared.host.backoff(step.path, step.attempt, step.error);
    } catch (error) {
      if (error !== step.error) throw error;
      throw this.#recordFailure(step, error, options);
    }
  }

  #advance(time: Moment): void {
    if (time.at > this.#time.at) this.#time = time;
    if (this.#inline && this.#parent !== undefined) this.#parent.#advance(time);
  }

  #gate(): void {
    for (let group: Group | undefined = this.#group; group; group = group.parent) {
      if (group.halted) throw new TurnSignal("halt");
    }
    this.#shared.host.gate();
  }

  #claim(key: string): string {
    const path = this.#path === "" ? key : `${this.#path}/${key}`;
    if (this.#shared.keys.has(path)) {
      throw new TroupeError("duplicate_step", `the key "${path}" is used twice in one turn`);
    }
    this.#shared.keys.add(path);
    return path;
  }

  #refuseInsideStep(key: string): void {
    for (let scope: TurnScope | undefined = this; scope; scope = scope.#parent) {
      if (scope.#stepping) {
        throw new TroupeError(
          "nested_step",
          `"${key}" was started while another step of "${scope.#path}" was running; only leaf effects are steps, use scope() or all() for what runs side by side`,
        );
      }
    }
  }
}

interface OpenStep {
  path: string;
  fingerprint: string;
  attempt: number;
  error: unknown;
  /** What the present attempt wants to keep besides its result. */
  keep: (() => void)[];
}

/** Reads at once and writes when `keep` is called. */
function heldBack(cache: StepCache, keep: (() => void)[]): StepCache {
  return {
    get: (key) => cache.get(key),
    set: (...entry) => keep.push(() => cache.set(...entry)),
  };
}

function isRetryable(error: unknown): boolean {
  return error instanceof Error && "retryable" in error && error.retryable === true;
}
