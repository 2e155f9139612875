import { TroupeError } from "../../core/errors.ts";
import { retryDelay } from "../../core/run/retry.ts";
import { TurnSignal } from "../../core/run/signals.ts";
import type { Answer, Question, StepCache } from "../../core/run/turn-context.ts";
import type {
  BranchFailure,
  Moment,
  StepOutcome,
  StepRecord,
  TurnHost,
} from "../../core/run/turn-host.ts";
import type { QuestionStore } from "../storage/question-store.ts";
import type { StepStore } from "../storage/step-store.ts";
import { type TurnFailure, TurnFailures } from "./turn-failures.ts";

/** A longer wait ends the turn and leaves the rest to the alarm, so that the object can be unloaded. */
const LONGEST_WAIT_IN_MEMORY_MS = 30_000;

/** What a turn may ask of its driver. */
export interface TurnControl {
  readonly signal: AbortSignal;
  readonly stopRequested: boolean;
  readonly pauseRequested: boolean;
  /** False once another driver took over: then nothing may be written any more. */
  readonly current: boolean;
  clock(): Moment;
  /** Waits in memory; a pause or a cancellation ends it early. */
  sleep(ms: number): Promise<void>;
  /** The text shown of this message is void. */
  discard(messageId: string): void;
  /** A question was recorded. */
  asked(): void;
  /** What is recorded and not emitted again is taken back. */
  retractOutstanding(): void;
  /** A reason to start no further step, for example a limit that was reached. */
  refusal(): TroupeError | undefined;
  /** Fails the run at once: agent and tool code must not make a result of it. */
  fail(error: TroupeError): void;
}

export interface TurnJournalOptions {
  turnId: string;
  started: Moment;
  runId: string;
  session: string;
  steps: StepStore;
  questions: QuestionStore;
  cache: StepCache;
  control: TurnControl;
}

/** The host of a turn in a Durable Object: what happened is written down and not done again. */
export class TurnJournal implements TurnHost {
  readonly turnId: string;
  readonly started: Moment;
  readonly session: string;
  readonly cache: StepCache;
  readonly #options: TurnJournalOptions;
  /** Steps under way. `retry` steps stand nowhere else before their end. */
  readonly #begun = new Map<string, Omit<StepRecord, "outcome">>();
  /** Steps that have a result, in the order this pass came by them. */
  readonly #passed = new Set<string>();
  readonly #failures: TurnFailures;

  constructor(options: TurnJournalOptions) {
    this.#options = options;
    this.turnId = options.turnId;
    this.started = options.started;
    this.session = options.session;
    this.cache = options.cache;
    this.#failures = new TurnFailures(options.steps);
  }

  get signal(): AbortSignal {
    return this.#options.control.signal;
  }

  get stopRequested(): boolean {
    return this.#options.control.stopRequested;
  }

  clock(): Moment {
    return this.#options.control.clock();
  }

  gate(): void {
    const { control } = this.#options;
    this.#fence();
    if (control.signal.aborted) throw new TurnSignal("cancel");
    if (control.pauseRequested) throw new TurnSignal("pause");
    const refusal = control.refusal();
    if (refusal) this.#fail(refusal);
  }

  recall(key: string): StepRecord | undefined {
    this.#fence();
    const record = this.#options.steps.get(key);
    if (record?.outcome) this.#passed.add(key);
    return record;
  }

  begun(key: string, step: Omit<StepRecord, "outcome">): void {
    this.#fence();
    const { steps } = this.#options;
    const notBefore = steps.get(key)?.notBefore;
    if (notBefore !== undefined && notBefore > this.clock().at) throw new TurnSignal("suspend");
    this.#begun.set(key, step);
    if (step.policy !== "retry") steps.begun(key, step);
    else if (notBefore !== undefined) steps.woken(key, step);
  }

  ended(key: string, step: StepRecord & { outcome: StepOutcome }): void {
    this.#fence();
    this.#begun.delete(key);
    this.#passed.add(key);
    this.#options.steps.ended(key, step);
  }

  threw(key: string, error: unknown): void {
    this.#failures.threw(key, error);
  }

  failed(branches: readonly BranchFailure[]): void {
    this.#failures.failed(branches);
  }

  invalidate(scope: string, key: string): void {
    this.#fence();
    const { steps, control } = this.#options;
    const prefix = scope === "" ? "" : `${scope}/`;
    const later = steps
      .keys()
      .filter((other) => other === key || (other.startsWith(prefix) && !this.#passed.has(other)));
    const once = later.find((other) => steps.get(other)?.policy !== "retry");
    if (once !== undefined) {
      this.#fail(
        new TroupeError(
          "code_changed",
          `"${key}" asks for something else than before the interruption, and "${once}", which came after it, must not run again`,
        ),
      );
    }
    for (const other of later) {
      steps.remove(other);
      this.#passed.delete(other);
    }
    // A message's scope is not known; what other scopes had said comes again under the same ids.
    control.retractOutstanding();
  }

  async backoff(key: string, attempt: number, error: unknown): Promise<void> {
    const { control, steps } = this.#options;
    const delay = retryDelay(attempt, error);
    if (delay === undefined) throw error;
    if (delay <= LONGEST_WAIT_IN_MEMORY_MS) {
      await control.sleep(delay);
      return;
    }
    this.#fence();
    const step = this.#begun.get(key) ?? {
      kind: "effect",
      policy: "retry",
      attempt,
      fingerprint: "",
    };
    steps.waits(key, step, this.clock().at + delay);
    throw new TurnSignal("suspend");
  }

  discard(messageId: string): void {
    if (this.#options.control.current) this.#options.control.discard(messageId);
  }

  answer(question: Question): Promise<{ answer: Answer; time: Moment }> {
    this.#fence();
    const { questions, runId } = this.#options;
    const known = questions.get(question.id);
    if (known?.answer) {
      const { value, time } = known.answer;
      return Promise.resolve({ answer: value, time });
    }
    if (known?.run !== runId) {
      questions.ask(runId, question, this.clock());
      // An input has an event; of an approval nobody would hear before all that runs beside it has ended.
      if (question.kind === "approval") this.#options.control.asked();
    }
    throw new TurnSignal("suspend");
  }

  /** Of this turn, which `error` ended: the step that threw it, if one did, and the steps that a retry repeats. */
  failure(error: unknown): TurnFailure {
    return {
      step: this.#failures.failedStep(error),
      repeat: this.#failures.stepsToRepeat(error, [...this.#passed]),
    };
  }

  #fence(): void {
    if (!this.#options.control.current) throw new TurnSignal("superseded");
  }

  #fail(error: TroupeError): never {
    this.#options.control.fail(error);
    throw new TurnSignal("superseded");
  }
}
