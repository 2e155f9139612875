import { errorMessage, TroupeError } from "../../../core/errors.ts";
import type { AnswerForm, ToolSchema } from "../../../core/models/chat-completion-client.ts";
import { TurnSignal } from "../../../core/run/signals.ts";
import type {
  Answer,
  Question,
  ScopeSubject,
  StepCache,
  TraceContext,
} from "../../../core/run/turn-context.ts";
import type {
  BranchFailure,
  FailedStep,
  ModelCallUnderWay,
  Moment,
  StepOutcome,
  StepRecord,
  TurnHost,
} from "../../../core/run/turn-host.ts";
import { errorType, TurnTrace } from "../../../telemetry/turn-trace.ts";
import type { QuestionStore } from "../../storage/runs/question-store.ts";
import type { StepStore, TracedStep } from "../../storage/runs/step-store.ts";
import type { RunTelemetry } from "../../telemetry/run-telemetry.ts";
import { waitOf } from "../active-run.ts";
import type { Drive } from "../drive.ts";
import type { RunFeed } from "../run-feed.ts";
import type { RunLifecycle } from "../run-lifecycle.ts";
import { usageLimitError } from "../run-limits.ts";
import { type TurnFailure, TurnFailures } from "./turn-failures.ts";

/** A longer wait ends the turn and leaves the rest to the alarm, so that the object can be unloaded. */
const LONGEST_WAIT_IN_MEMORY_MS = 30_000;

export interface TurnJournalOptions {
  drive: Drive;
  steps: StepStore;
  questions: QuestionStore;
  cache: StepCache;
  session: string;
  feed: RunFeed;
  lifecycle: RunLifecycle;
  telemetry: RunTelemetry;
}

/** The host of a turn in a Durable Object: records the turn's steps and questions, so that none is repeated. */
export class TurnJournal implements TurnHost {
  readonly turnId: string;
  readonly started: Moment;
  readonly session: string;
  readonly cache: StepCache;
  readonly #drive: Drive;
  readonly #steps: StepStore;
  readonly #questions: QuestionStore;
  readonly #feed: RunFeed;
  readonly #lifecycle: RunLifecycle;
  /** Steps under way; those of the policy `retry` are recorded only when they end. */
  readonly #begun = new Map<string, Omit<TracedStep, "outcome">>();
  /** Steps that have a result, in the order this pass reached them. */
  readonly #passed = new Set<string>();
  readonly #failures: TurnFailures;
  readonly #trace: TurnTrace;
  readonly #telemetry: RunTelemetry;

  constructor(options: TurnJournalOptions) {
    const { drive, steps, questions, cache, session, feed, lifecycle, telemetry } = options;
    this.turnId = drive.active.turnId;
    this.started = drive.active.turnStarted;
    this.session = session;
    this.cache = cache;
    this.#drive = drive;
    this.#steps = steps;
    this.#questions = questions;
    this.#feed = feed;
    this.#lifecycle = lifecycle;
    this.#failures = new TurnFailures(steps);
    this.#telemetry = telemetry;
    this.#trace = new TurnTrace({
      since: drive.active.startedAt,
      recovering: drive.origin === "recovery",
      discarded: drive.active.discardedSpans,
    });
    drive.active.trace = this.#trace;
  }

  get signal(): AbortSignal {
    return this.#drive.signal;
  }

  get clientTools(): readonly ToolSchema[] {
    return this.#drive.active.record.tools ?? [];
  }

  get answerForm(): AnswerForm | undefined {
    return this.#drive.active.record.answer_form;
  }

  get stopRequested(): boolean {
    return this.#drive.active.record.stop_requested !== null;
  }

  clock(): Moment {
    return this.#drive.clock();
  }

  gate(): void {
    this.#fence();
    const { active } = this.#drive;
    if (active.record.pause_requested) throw new TurnSignal("pause");
    const error = usageLimitError(active);
    if (error) this.#fail(error);
  }

  recall(key: string): StepRecord | undefined {
    this.#fence();
    const record = this.#steps.get(key);
    if (record?.outcome) {
      this.#passed.add(key);
      this.#trace.replayed(key, record, record.trace);
    }
    return record;
  }

  begun(key: string, step: Omit<StepRecord, "outcome">): void {
    this.#fence();
    const steps = this.#steps;
    const notBefore = steps.get(key)?.notBefore;
    if (notBefore !== undefined && notBefore > this.clock().at) throw new TurnSignal("suspend");
    const traced = { ...step, trace: this.#trace.begun(key, step, this.clock().at) };
    this.#begun.set(key, traced);
    steps.settle();
    if (step.policy !== "retry") steps.begun(key, traced);
    else if (notBefore !== undefined) steps.woken(key, traced);
  }

  ended(key: string, step: StepRecord & { outcome: StepOutcome }): void {
    this.#fence();
    const { active } = this.#drive;
    this.#begun.delete(key);
    if ("error" in step.outcome) this.#countCutOff(key);
    active.calls.delete(key);
    this.#passed.add(key);
    this.#steps.ended(key, { ...step, trace: this.#trace.ended(key, step) });
    const exchange = active.exchanges.get(key);
    if (exchange && "ok" in step.outcome) exchange.output = step.outcome.ok;
  }

  calls(key: string, call: ModelCallUnderWay): void {
    const { active } = this.#drive;
    active.calls.set(key, call);
    if (this.#telemetry.wantsContents) active.exchanges.set(key, { input: call.input() });
  }

  traceContext(key: string): TraceContext | undefined {
    return this.#telemetry.contextOf(this.#drive.active, key);
  }

  described(scope: string, subject: ScopeSubject, at: Moment): void {
    this.#trace.described(scope, subject, at.at);
  }

  threw(key: string, error: unknown): void {
    this.#failures.threw(key, error);
  }

  failed(branches: readonly BranchFailure[]): void {
    this.#failures.failed(branches);
  }

  invalidate(scope: string, key: string): void {
    this.#fence();
    const steps = this.#steps;
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
    const entries = [...steps.entries()].filter(([other]) => later.includes(other));
    this.#drive.active.discardSteps(later, this.#trace.discard(entries));
    for (const other of later) this.#passed.delete(other);
    // The scope of a message is not known; messages of other scopes are emitted again under the same ids.
    this.#feed.retracted(this.#drive.active.events.retractOutstanding());
  }

  async backoff(key: string, delay: number, failed: FailedStep): Promise<void> {
    this.#fence();
    const { attempt, failingSince, error } = failed;
    const { at } = this.clock();
    // Until the next attempt, nothing is under way that could be cut off.
    this.#drive.active.calls.delete(key);
    this.#trace.attemptFailed(key, error, at);
    if (delay > 0) {
      this.#feed.retrying({
        step: key,
        agent: this.#trace.agentOf(key),
        attempt,
        error: { type: errorType(error), message: errorMessage(error) },
        next_attempt_at: new Date(at + delay).toISOString(),
      });
    }
    if (delay <= LONGEST_WAIT_IN_MEMORY_MS) {
      await this.#drive.sleep(delay);
      return;
    }
    const step = this.#begun.get(key) ?? {
      kind: "effect",
      policy: "retry",
      attempt,
      fingerprint: "",
    };
    this.#steps.waits(key, { ...step, failingSince }, at + delay);
    throw new TurnSignal("suspend");
  }

  discard(messageId: string): void {
    if (this.#drive.superseded) return;
    for (const [key, call] of this.#drive.active.calls) {
      if (call.messageId === messageId) this.#countCutOff(key);
    }
    this.#feed.discard(messageId);
  }

  flush(): void {
    this.#feed.batchComplete();
  }

  answer(question: Question, scope: string): Promise<{ answer: Answer; time: Moment }> {
    this.#fence();
    const questions = this.#questions;
    const { active } = this.#drive;
    const runId = active.record.id;
    const known = questions.get(question.id);
    if (known) this.#trace.waits(waitOf(known), scope);
    if (known?.answer) {
      const { value, time } = known.answer;
      return Promise.resolve({ answer: value, time });
    }
    if (known?.run !== runId) {
      const now = this.clock();
      questions.ask(runId, question, now);
      this.#trace.waits(
        { id: question.id, source: question.source, start: now.at, end: null },
        scope,
      );
      // An input has an event; without this the others would not be shown before all their siblings have ended.
      if (question.kind !== "input") this.#feed.runSoon(active);
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

  /** A model call has failed. If a part of its answer arrived, its maker charges for it. */
  #countCutOff(key: string): void {
    const { active } = this.#drive;
    const call = active.calls.get(key);
    const text = call?.messageId && this.#feed.textOf(call.messageId);
    if (call && text) active.countCutOff([call], () => text);
  }

  #fence(): void {
    if (this.#drive.superseded) throw new TurnSignal("superseded");
  }

  /** Ends the run at once: agent and tool code must not make a result of this error. */
  #fail(error: TroupeError): never {
    this.#lifecycle.end({ status: "failed", error });
    throw new TurnSignal("superseded");
  }
}
