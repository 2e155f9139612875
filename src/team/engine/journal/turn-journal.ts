import { errorMessage, TroupeError } from "../../../core/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { MemoryHost } from "../../../core/memory/memory-host.ts";
import type { AnswerForm, ToolSchema } from "../../../core/models/chat-completion-client.ts";
import { ModelError } from "../../../core/models/model-error.ts";
import type { UsageByModel } from "../../../core/models/request-usage.ts";
import { TurnSignal } from "../../../core/steps/signals.ts";
import { type RemoteWork, remoteWorkIn } from "../../../core/steps/remote-work.ts";
import type { ServerLogins } from "../../../core/steps/server-logins.ts";
import type { RunContext } from "../../../core/turn/run-context.ts";
import type { StepCache, TraceContext } from "../../../core/steps/step-attempt.ts";
import type { Answer, Question, ScopeSubject } from "../../../core/turn/turn-context.ts";
import {
  type BranchFailure,
  type FailedStep,
  mayRun,
  type ModelCallUnderWay,
  type Moment,
  type StepAhead,
  type StepOutcome,
  type StepRecord,
  type TurnHost,
} from "../../../core/turn/turn-host.ts";
import { errorType, TurnTrace } from "../../../telemetry/spans/turn-trace.ts";
import { hopsAfter } from "../../storage/runs/run-record.ts";
import type { QuestionStore } from "../../storage/runs/question-store.ts";
import type { StepStore, TracedStep } from "../../storage/runs/step-store.ts";
import type { RunTelemetry } from "../views/run-telemetry.ts";
import { waitOf } from "./recorded-trace.ts";
import type { RunFeed } from "../views/run-feed.ts";
import type { JournaledRun } from "./journaled-run.ts";
import type { Fence, SuspectSteps } from "./fence.ts";
import type { RunRecord } from "../../storage/runs/run-record.ts";
import type { Stores } from "../../storage/stores.ts";
import { usageLimitError } from "./usage-limit.ts";
import { runContextOf } from "../views/run-info.ts";
import { CallReservations, isLimited } from "./call-reservations.ts";
import type { CostOf } from "../../../contract/usage/model-usage.ts";
import type { TenantBudget } from "./tenant-budget.ts";
import { NestedRounds } from "./nested-rounds.ts";
import { type TurnFailure, TurnFailures } from "./turn-failures.ts";
import { type OtherMemories, TurnMemory } from "./turn-memory.ts";

/** A longer wait ends the turn and leaves the rest to the alarm, so that the object can be unloaded. */
const LONGEST_WAIT_IN_MEMORY_MS = 30_000;

/** The parts that the journal of a turn writes to, reports to and asks. */
export interface JournalParts {
  stores: Stores;
  feed: RunFeed;
  /** Undefined for a deployment without telemetry. */
  telemetry: RunTelemetry | undefined;
  costOf: CostOf;
  /** Bindings of the Worker, for agents and tools. */
  env: object;
  /** The memories of users and of the tenant; undefined without the binding MEMORY. */
  memories: OtherMemories | undefined;
  /** The tenant's budget in money; undefined without the binding TENANT. */
  budget: TenantBudget | undefined;
  /** The tenant's logins at other servers, for a run; undefined without the binding TENANT. */
  logins: ((run: Pick<RunRecord, "id" | "user">) => ServerLogins) | undefined;
}

/** The turn that is recorded. */
export interface JournaledTurn {
  active: JournaledRun;
  fence: Fence;
  /** Set while the run may be the cause of its interruptions. */
  suspect: SuspectSteps | undefined;
  /** Ends the run as failed, which supersedes the execution. */
  fail: (error: TroupeError) => void;
}

/** The host of a turn in a Durable Object: records the turn's steps and questions, so that none is repeated. */
export class TurnJournal implements TurnHost {
  readonly turnId: string;
  readonly started: Moment;
  readonly session: string;
  readonly signal: AbortSignal;
  readonly logins: ServerLogins | undefined;
  readonly env: object;
  readonly hops: number;
  readonly run: RunContext;
  readonly cache: StepCache;
  /** The memories that the turn has read and written; undefined as long as it uses none. */
  usedMemory: TurnMemory | undefined;
  /** The ledgers of teams inside participants; undefined as long as there is no such team. */
  nested: NestedRounds | undefined;
  readonly #openMemory: () => TurnMemory;
  readonly #leave: (works: readonly RemoteWork[]) => void;
  readonly #isLeft: (work: RemoteWork) => boolean;
  readonly #active: JournaledRun;
  readonly #fence: Fence;
  readonly #suspect: JournaledTurn["suspect"];
  readonly #endRun: JournaledTurn["fail"];
  readonly #steps: StepStore;
  readonly #questions: QuestionStore;
  readonly #feed: RunFeed;
  /** Steps under way; those of the policy `retry` are recorded only when they end. */
  readonly #started = new Map<string, Omit<TracedStep, "outcome">>();
  /** Steps that have a result, in the order this pass reached them. */
  readonly #passed = new Set<string>();
  #errors: TurnFailures | undefined;
  /** Steps whose failed attempt was counted by what had arrived of its answer. */
  readonly #counted = new Set<string>();
  /** The part of a failed attempt's answer that had arrived, by its step. */
  readonly #discarded = new Map<string, string>();
  /** Undefined as long as no call has to reserve anything. */
  #reservations: CallReservations | undefined;
  readonly #costOf: CostOf;
  readonly #budget: TenantBudget | undefined;
  readonly #trace: TurnTrace;
  readonly #telemetry: RunTelemetry | undefined;

  constructor(parts: JournalParts, { active, fence, suspect, fail }: JournaledTurn) {
    const { stores, feed, telemetry, costOf, env, memories, budget, logins } = parts;
    const { steps, questions, cache, team } = stores;
    this.turnId = active.turnId;
    this.started = active.turnStarted;
    this.session = team.session;
    this.logins = logins?.(active.record);
    this.env = env;
    this.hops = hopsAfter(active.record);
    this.run = runContextOf(active.record, stores);
    this.#openMemory = () => new TurnMemory(stores, active, memories);
    const turn = active.turnOfTeam;
    this.#leave = (works) => stores.transaction(() => stores.remoteWork.leave(works, turn));
    this.#isLeft = ({ id }) => stores.remoteWork.pending.some(({ work }) => work.id === id);
    this.cache = active.repeatsFailedTurn ? cache.renewing() : cache;
    this.#active = active;
    this.#fence = fence;
    this.#suspect = suspect;
    this.#endRun = fail;
    this.signal = fence.signal;
    this.#steps = steps;
    this.#questions = questions;
    this.#feed = feed;
    this.#costOf = costOf;
    this.#budget = budget;
    this.#telemetry = telemetry;
    this.#trace = new TurnTrace({
      since: active.startedAt,
      recovering: fence.origin === "recovery",
      discarded: active.discardedSpans,
    });
    active.trace = this.#trace;
  }

  get memory(): MemoryHost {
    return (this.usedMemory ??= this.#openMemory());
  }

  get clientTools(): readonly ToolSchema[] {
    return this.#active.record.tools ?? [];
  }

  get answerForm(): AnswerForm | undefined {
    return this.#active.record.answer_form;
  }

  get stopRequested(): boolean {
    return this.#active.record.stop_requested !== null;
  }

  clock(): Moment {
    return this.#fence.clock();
  }

  gate(): void {
    this.#check();
    const active = this.#active;
    if (active.record.pause_requested) throw new TurnSignal("pause");
    const error = usageLimitError(active);
    if (error) this.#fail(error);
  }

  reserve(...call: Parameters<CallReservations["reserve"]>): Promise<void> | undefined {
    const [active, costOf, budget] = [this.#active, this.#costOf, this.#budget];
    if (!isLimited(active.record, budget)) return undefined;
    this.#reservations ??= new CallReservations({
      active,
      costOf,
      budget,
      fence: this.#fence,
      fail: (error) => this.#fail(error),
    });
    return this.#reservations.reserve(...call);
  }

  release(key: string): void {
    if (!this.#fence.superseded) this.#reservations?.release(key);
  }

  ready(step?: StepAhead): Promise<void> | undefined {
    return step && this.#suspect?.begins(step);
  }

  settled(): Promise<void> | undefined {
    return this.#suspect?.settled();
  }

  recall(key: string): StepRecord | undefined {
    this.#check();
    const record = this.#steps.get(key);
    if (record?.outcome) {
      this.#active.answered(record);
      this.#passed.add(key);
      this.#trace.replayed(key, record, record.trace);
    }
    return record;
  }

  stepStarted(key: string, step: Omit<StepRecord, "outcome">): void {
    this.#check();
    const steps = this.#steps;
    const notBefore = steps.get(key)?.notBefore;
    if (notBefore !== undefined && notBefore > this.clock().at) throw new TurnSignal("suspend");
    const traced = { ...step, trace: this.#trace.attemptStarted(key, step, this.clock().at) };
    this.#started.set(key, traced);
    this.#feed.activitySoon(this.#active);
    steps.flush();
    if (step.policy !== "retry") steps.started(key, traced);
    else if (notBefore !== undefined) steps.woken(key, traced);
  }

  ended(key: string, step: StepRecord & { outcome: StepOutcome }): void {
    this.#check();
    const active = this.#active;
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
    active.answered(step);
    const exchange = active.exchanges.get(key);
    if (!("ok" in step.outcome)) return;
    if (exchange) exchange.output = step.outcome.ok;
    if (step.kind === "model") this.#note(key, step.outcome.ok);
  }

  calls(key: string, call: ModelCallUnderWay): void {
    const active = this.#active;
    active.calls.set(key, call);
    if (this.#telemetry?.wantsContents) active.exchanges.set(key, { input: call.input() });
  }

  spent(key: string, usage: UsageByModel): void {
    // The shown part of the answer is counted already.
    if (!this.#counted.delete(key)) this.#active.countSpent(usage);
  }

  traceContext(key: string): TraceContext | undefined {
    const active = this.#active;
    // Without telemetry, the caller's context is passed on unchanged.
    return this.#telemetry ? this.#telemetry.contextOf(active, key) : active.record.trace?.context;
  }

  /** Without the fence: an effect may learn only after the end of its run what it has begun. The end has decided about all other work. */
  abandon(work: RemoteWork): void {
    if (!this.#fence.superseded || this.#isLeft(work)) this.#leave([work]);
  }

  described(scope: string, subject: ScopeSubject, at: Moment): void {
    this.#trace.described(scope, subject, at.at);
  }

  innerTurn(scope: string, team: string, state: () => JsonObject | undefined): void {
    this.nested ??= new NestedRounds((path) => this.#trace.namesAround(path));
    this.nested.add(scope, team, state());
  }

  noted(scope: string, message: string): void {
    this.#check();
    this.#addNote(`${scope}/`, message);
  }

  threw(key: string, error: unknown): void {
    this.#countSpent(key, error);
    this.#failures.threw(key, error);
  }

  failed(branches: readonly BranchFailure[]): void {
    this.#failures.failed(branches);
  }

  invalidate(scope: string, key: string): void {
    this.#check();
    const steps = this.#steps;
    const prefix = scope === "" ? "" : `${scope}/`;
    const later = steps
      .keys()
      .filter((other) => other === key || (other.startsWith(prefix) && !this.#passed.has(other)));
    const once = later.find((other) => {
      const step = steps.get(other);
      return step !== undefined && !mayRun(step);
    });
    if (once !== undefined) {
      this.#fail(
        new TroupeError(
          "code_changed",
          `"${key}" asks for something else than before the interruption, and "${once}", which came after it, must not run again`,
        ),
      );
    }
    const entries = [...steps.entries()].filter(([other]) => later.includes(other));
    const left = remoteWorkIn(entries);
    if (left.length > 0) this.#leave(left);
    this.#active.discardSteps(later, this.#trace.discard(entries));
    for (const other of later) this.#passed.delete(other);
    // The scope of a message is not known; messages of other scopes are emitted again under the same ids.
    this.#feed.retracted(this.#active.events.retractOutstanding());
  }

  async backoff(key: string, delay: number, failed: FailedStep): Promise<void> {
    this.#check();
    const { attempt, failingSince, error } = failed;
    const { at } = this.clock();
    this.#countSpent(key, error);
    // Until the next attempt, nothing is under way that could be cut off.
    this.#active.calls.delete(key);
    const text = this.#discarded.get(key);
    this.#discarded.delete(key);
    const trace = this.#trace.attemptFailed(key, error, { at, nextAt: at + delay, text });
    this.#feed.activitySoon(this.#active);
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
    await this.#fence.sleep(delay);
    this.#check();
    this.#steps.due(key, waiting);
  }

  discard(messageId: string): void {
    if (this.#fence.superseded) return;
    for (const [key, call] of this.#active.calls) {
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
    this.#check();
    const questions = this.#questions;
    const active = this.#active;
    const runId = active.record.id;
    const existing = questions.get(question.id);
    if (existing) this.#trace.waits(waitOf(existing), scope);
    if (existing?.answer) {
      const { value, time } = existing.answer;
      return Promise.resolve({ answer: value, time });
    }
    if (existing?.run !== runId) {
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

  /** The failure of this turn by `error`: the step that threw it, if one did, and the steps that a retry repeats. */
  failure(error: unknown): TurnFailure & { attempts: number | null } {
    const step = this.#failures.failedStep(error);
    return {
      step,
      attempts: step === null ? null : this.#trace.attemptsOf(step),
      repeat: this.#failures.stepsToRepeat(error, [...this.#passed]),
    };
  }

  /** The turn's errors; made with the first one. */
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
    const active = this.#active;
    if (active.note({ agent: this.#trace.agentOf(key), message })) this.#feed.runSoon(active);
  }

  /** A model call has failed. If a part of its answer arrived, its maker charges for it. */
  #countCutOff(key: string): void {
    const active = this.#active;
    const call = active.calls.get(key);
    const text = call?.messageId && this.#feed.textOf(call.messageId);
    if (!call || !text) return;
    active.countCutOff([call], () => text);
    this.#counted.add(key);
  }

  /** An attempt has failed with an answer that is of no use. */
  #countSpent(key: string, error: unknown): void {
    if (error instanceof ModelError && error.spent) this.spent(key, error.spent);
    else this.#counted.delete(key);
  }

  #check(): void {
    if (this.#fence.superseded) throw new TurnSignal("superseded");
  }

  /** Ends the run at once: agent and tool code must not make a result of this error. */
  #fail(error: TroupeError): never {
    this.#endRun(error);
    throw new TurnSignal("superseded");
  }
}
