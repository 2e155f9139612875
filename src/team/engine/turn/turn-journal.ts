import { errorMessage, TroupeError } from "../../../core/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { MemoryHost } from "../../../core/memory/memory-host.ts";
import type { AnswerForm, ToolSchema } from "../../../core/models/chat-completion-client.ts";
import { TurnSignal } from "../../../core/steps/signals.ts";
import type { ServerLogins } from "../../../core/steps/server-logins.ts";
import type { StepCache, TraceContext } from "../../../core/steps/step-attempt.ts";
import type { Answer, Question, ScopeSubject } from "../../../core/turn/turn-context.ts";
import type {
  BranchFailure,
  FailedStep,
  ModelCallUnderWay,
  Moment,
  StepOutcome,
  StepRecord,
  TurnHost,
} from "../../../core/turn/turn-host.ts";
import { errorType, TurnTrace } from "../../../telemetry/turn-trace.ts";
import type { QuestionStore } from "../../storage/runs/question-store.ts";
import type { StepStore, TracedStep } from "../../storage/runs/step-store.ts";
import type { RunTelemetry } from "../run-telemetry.ts";
import { waitOf } from "../turn-report.ts";
import type { RunFeed } from "../run-feed.ts";
import type { RunEngine } from "../run-engine.ts";
import type { RunLoop, RunLoopParts } from "../run-loop.ts";
import { usageLimitError } from "../next-action.ts";
import { NestedRounds } from "./nested-rounds.ts";
import { type TurnFailure, TurnFailures } from "./turn-failures.ts";
import { TurnMemory } from "./turn-memory.ts";

/** A longer wait ends the turn and leaves the rest to the alarm, so that the object can be unloaded. */
const LONGEST_WAIT_IN_MEMORY_MS = 30_000;

export interface TurnJournalOptions extends Pick<
  RunLoopParts,
  "engine" | "stores" | "feed" | "telemetry" | "env" | "memories" | "logins"
> {
  loop: RunLoop;
}

/** The host of a turn in a Durable Object: records the turn's steps and questions, so that none is repeated. */
export class TurnJournal implements TurnHost {
  readonly turnId: string;
  readonly started: Moment;
  readonly session: string;
  readonly logins: ServerLogins | undefined;
  readonly env: object;
  readonly cache: StepCache;
  /** What the turn has read and written of memories; undefined as long as it uses none. */
  usedMemory: TurnMemory | undefined;
  /** The ledgers of teams inside participants; undefined as long as there is no such team. */
  nested: NestedRounds | undefined;
  readonly #openMemory: () => TurnMemory;
  readonly #loop: RunLoop;
  readonly #steps: StepStore;
  readonly #questions: QuestionStore;
  readonly #feed: RunFeed;
  readonly #engine: RunEngine;
  /** Steps under way; those of the policy `retry` are recorded only when they end. */
  readonly #started = new Map<string, Omit<TracedStep, "outcome">>();
  /** Steps that have a result, in the order this pass reached them. */
  readonly #passed = new Set<string>();
  #errors: TurnFailures | undefined;
  /** What had arrived of the answer of an attempt that failed, by its step. */
  readonly #discarded = new Map<string, string>();
  readonly #trace: TurnTrace;
  readonly #telemetry: RunTelemetry | undefined;

  constructor(options: TurnJournalOptions) {
    const { loop, engine, stores, feed, telemetry, env, memories, logins } = options;
    const { active } = loop;
    const { steps, questions, cache, team } = stores;
    this.turnId = active.turnId;
    this.started = active.turnStarted;
    this.session = team.session;
    this.logins = logins?.(active.record.id);
    this.env = env;
    this.#openMemory = () => new TurnMemory(stores, active, memories);
    this.cache = active.repeatsFailedTurn ? cache.renewing() : cache;
    this.#loop = loop;
    this.#engine = engine;
    this.#steps = steps;
    this.#questions = questions;
    this.#feed = feed;
    this.#telemetry = telemetry;
    this.#trace = new TurnTrace({
      since: active.startedAt,
      recovering: loop.origin === "recovery",
      discarded: active.discardedSpans,
    });
    active.trace = this.#trace;
  }

  get memory(): MemoryHost {
    return (this.usedMemory ??= this.#openMemory());
  }

  get signal(): AbortSignal {
    return this.#loop.signal;
  }

  get clientTools(): readonly ToolSchema[] {
    return this.#loop.active.record.tools ?? [];
  }

  get answerForm(): AnswerForm | undefined {
    return this.#loop.active.record.answer_form;
  }

  get stopRequested(): boolean {
    return this.#loop.active.record.stop_requested !== null;
  }

  clock(): Moment {
    return this.#loop.clock();
  }

  gate(): void {
    this.#fence();
    const { active } = this.#loop;
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

  stepStarted(key: string, step: Omit<StepRecord, "outcome">): void {
    this.#fence();
    const steps = this.#steps;
    const notBefore = steps.get(key)?.notBefore;
    if (notBefore !== undefined && notBefore > this.clock().at) throw new TurnSignal("suspend");
    const traced = { ...step, trace: this.#trace.attemptStarted(key, step, this.clock().at) };
    this.#started.set(key, traced);
    this.#feed.activitySoon(this.#loop.active);
    steps.flush();
    if (step.policy !== "retry") steps.started(key, traced);
    else if (notBefore !== undefined) steps.woken(key, traced);
  }

  ended(key: string, step: StepRecord & { outcome: StepOutcome }): void {
    this.#fence();
    const { active } = this.#loop;
    this.#started.delete(key);
    if ("error" in step.outcome) this.#countCutOff(key);
    const messageId = active.calls.get(key)?.messageId;
    const thought = messageId === undefined ? undefined : this.#feed.thoughtOf(messageId);
    const failed = messageId !== undefined && "error" in step.outcome;
    const cutOff = failed ? this.#feed.textOf(messageId) : undefined;
    active.calls.delete(key);
    this.#passed.add(key);
    this.#steps.ended(key, { ...step, trace: this.#trace.ended(key, step, { thought, cutOff }) });
    this.#feed.activitySoon(active);
    const exchange = active.exchanges.get(key);
    if (!("ok" in step.outcome)) return;
    if (exchange) exchange.output = step.outcome.ok;
    if (step.kind === "model") this.#note(key, step.outcome.ok);
  }

  calls(key: string, call: ModelCallUnderWay): void {
    const { active } = this.#loop;
    active.calls.set(key, call);
    if (this.#telemetry?.wantsContents) active.exchanges.set(key, { input: call.input() });
  }

  traceContext(key: string): TraceContext | undefined {
    const { active } = this.#loop;
    // Without telemetry, the caller's context is passed on unchanged.
    return this.#telemetry ? this.#telemetry.contextOf(active, key) : active.record.trace?.context;
  }

  described(scope: string, subject: ScopeSubject, at: Moment): void {
    this.#trace.described(scope, subject, at.at);
  }

  innerTurn(scope: string, team: string, state: () => JsonObject | undefined): void {
    this.nested ??= new NestedRounds((path) => this.#trace.namesAround(path));
    this.nested.add(scope, team, state());
  }

  noted(scope: string, message: string): void {
    this.#fence();
    this.#addNote(`${scope}/`, message);
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
    this.#loop.active.discardSteps(later, this.#trace.discard(entries));
    for (const other of later) this.#passed.delete(other);
    // The scope of a message is not known; messages of other scopes are emitted again under the same ids.
    this.#feed.retracted(this.#loop.active.events.retractOutstanding());
  }

  async backoff(key: string, delay: number, failed: FailedStep): Promise<void> {
    this.#fence();
    const { attempt, failingSince, error } = failed;
    const { at } = this.clock();
    // Until the next attempt, nothing is under way that could be cut off.
    this.#loop.active.calls.delete(key);
    const text = this.#discarded.get(key);
    this.#discarded.delete(key);
    const trace = this.#trace.attemptFailed(key, error, { at, nextAt: at + delay, text });
    this.#feed.activitySoon(this.#loop.active);
    if (delay > 0) {
      this.#feed.retrying({
        step: key,
        agent: this.#trace.agentOf(key),
        attempt,
        error: { type: errorType(error), message: errorMessage(error) },
        next_attempt_at: new Date(at + delay).toISOString(),
      });
    }
    const step = this.#started.get(key) ?? {
      kind: "effect",
      policy: "retry",
      attempt,
      fingerprint: "",
    };
    const waiting = { ...step, failingSince, ...(trace && { trace }) };
    // A short wait, too: a process that dies must not begin again with the attempts and the patience.
    this.#steps.waits(key, waiting, at + delay);
    if (delay > LONGEST_WAIT_IN_MEMORY_MS) throw new TurnSignal("suspend");
    await this.#loop.sleep(delay);
    this.#fence();
    this.#steps.woken(key, waiting);
  }

  discard(messageId: string): void {
    if (this.#loop.superseded) return;
    for (const [key, call] of this.#loop.active.calls) {
      if (call.messageId !== messageId) continue;
      this.#countCutOff(key);
      const text = this.#feed.textOf(messageId);
      if (text) this.#discarded.set(key, text);
    }
    this.#feed.discard(messageId);
  }

  flush(): void {
    this.#feed.batchComplete();
  }

  answer(question: Question, scope: string): Promise<{ answer: Answer; time: Moment }> {
    this.#fence();
    const questions = this.#questions;
    const { active } = this.#loop;
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

  /** How `error` ended this turn: the step that threw it, if one did, and the steps that a retry repeats. */
  failure(error: unknown): TurnFailure & { attempts: number | null } {
    const step = this.#failures.failedStep(error);
    return {
      step,
      attempts: step === null ? null : this.#trace.attemptsOf(step),
      repeat: this.#failures.stepsToRepeat(error, [...this.#passed]),
    };
  }

  /** What is known of the turn's errors; made with the first one. */
  get #failures(): TurnFailures {
    return (this.#errors ??= new TurnFailures(this.#steps));
  }

  /** The run shows what a model's request lacked. */
  #note(key: string, result: Json): void {
    const message = isJsonObject(result) ? result["note"] : undefined;
    if (typeof message !== "string") return;
    this.#addNote(key, message);
  }

  #addNote(key: string, message: string): void {
    const { active } = this.#loop;
    if (active.note({ agent: this.#trace.agentOf(key), message })) this.#feed.runSoon(active);
  }

  /** A model call has failed. If a part of its answer arrived, its maker charges for it. */
  #countCutOff(key: string): void {
    const { active } = this.#loop;
    const call = active.calls.get(key);
    const text = call?.messageId && this.#feed.textOf(call.messageId);
    if (call && text) active.countCutOff([call], () => text);
  }

  #fence(): void {
    if (this.#loop.superseded) throw new TurnSignal("superseded");
  }

  /** Ends the run at once: agent and tool code must not make a result of this error. */
  #fail(error: TroupeError): never {
    this.#engine.end({ status: "failed", error });
    throw new TurnSignal("superseded");
  }
}
