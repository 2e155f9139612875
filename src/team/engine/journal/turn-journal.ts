import { TroupeError } from "../../../core/errors.ts";
import type { TextMessage } from "../../../core/messages/chat-messages.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { UsageByModel } from "../../../core/models/request-usage.ts";
import { TurnSignal } from "../../../core/steps/signals.ts";
import { type RemoteWork, remoteWorkIn } from "../../../core/steps/remote-work.ts";
import type { TraceContext } from "../../../core/steps/step-attempt.ts";
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
import { TurnTrace } from "../../../telemetry/spans/turn-trace.ts";
import { type StepStore, tokensOf, type TracedStep } from "../../storage/runs/step-store.ts";
import { answerTo } from "./recorded-turn.ts";
import type { RunFeed } from "../views/run-feed.ts";
import type { LiveFeed } from "../../stream/live-feed.ts";
import type { JournaledRun } from "./journaled-run.ts";
import type { Fence } from "./fence.ts";
import { FailedAttempts, type TurnFailure } from "./failed-attempts.ts";
import type { JournalParts, JournaledTurn } from "./journal-parts.ts";
import { usageLimitError } from "./usage-limit.ts";
import { CallReservations } from "./call-reservations.ts";
import { mayBeSet } from "./tenant-budget.ts";
import { NestedRounds } from "./nested-rounds.ts";
import { TurnFacts } from "./turn-facts.ts";
import { type ReadingHost, readingStep, showSent, TurnSteering } from "./turn-steering.ts";
import type { SentIn } from "../../storage/runs/steering-store.ts";

/** A longer wait ends the turn and leaves the rest to the alarm, so that the object can be unloaded. */
const LONGEST_WAIT_IN_MEMORY_MS = 30_000;

/** The host of a turn in a Durable Object: records the turn's steps and questions, so that none is repeated. */
export class TurnJournal extends TurnFacts implements TurnHost, ReadingHost {
  /** The ledgers of teams inside participants; undefined as long as there is no such team. */
  nested: NestedRounds | undefined;
  readonly steering: TurnSteering;
  readonly #parts: JournalParts;
  readonly #turn: JournaledTurn;
  readonly #active: JournaledRun;
  readonly #fence: Fence;
  readonly #steps: StepStore;
  readonly #live: LiveFeed;
  readonly #feed: RunFeed;
  readonly #trace: TurnTrace;
  /** Steps under way; those of the policy `retry` are recorded only when they end. */
  readonly #started = new Map<string, Omit<TracedStep, "outcome">>();
  /** Steps that have a result, in the order this pass reached them. */
  readonly #passed = new Set<string>();
  /** Undefined as long as no attempt has failed. */
  #failed: FailedAttempts | undefined;
  /** Undefined as long as no call has to reserve anything. */
  #reservations: CallReservations | undefined;

  constructor(parts: JournalParts, turn: JournaledTurn) {
    super(parts, turn);
    const { active, fence } = turn;
    this.#parts = parts;
    this.#turn = turn;
    this.#active = active;
    this.#fence = fence;
    this.#steps = parts.stores.steps;
    this.#live = parts.live;
    this.#feed = parts.feed;
    this.#trace = new TurnTrace({
      since: active.startedAt,
      recovering: fence.origin === "recovery",
      discarded: active.discardedSpans,
    });
    active.trace = this.#trace;
    this.steering = new TurnSteering(this);
  }

  get active(): JournaledRun {
    return this.#active;
  }

  record(key: string, messages: readonly TextMessage[]): void {
    this.ended(key, readingStep(messages, this.clock()));
  }

  isAtFrontier(): boolean {
    for (const [key, step] of this.#steps.entries()) {
      if ((step.outcome || !mayRun(step)) && !this.#passed.has(key)) return false;
    }
    return !this.#active.events.isRepeating;
  }

  sent(): readonly SentIn[] {
    const { steering, queue } = this.#parts.stores;
    return steering.all.filter(({ run }) => queue.position(run) === null);
  }

  show(sent: SentIn): void {
    const { stored, turnOfTeam } = this.#active;
    this.#live.event(showSent(this.#parts.stores, { run: stored.seq, turn: turnOfTeam }, sent));
  }

  hasShown(messageId: string): boolean {
    return this.#live.textOf(messageId) !== undefined;
  }

  wake(): void {
    this.#fence.interrupt();
  }

  clock(): Moment {
    return this.#fence.clock();
  }

  gate(): void {
    this.#check();
    const active = this.#active;
    if (active.record.pause_requested) throw new TurnSignal("pause");
    const error = active.isLimited ? usageLimitError(active) : undefined;
    if (error) this.#fail(error);
  }

  reserve(...call: Parameters<CallReservations["reserve"]>): Promise<void> | undefined {
    const { costOf, budget } = this.#parts;
    const [active, fence] = [this.#active, this.#fence];
    if (!active.isLimited && !mayBeSet(budget)) return undefined;
    const fail = (error: TroupeError): never => this.#fail(error);
    this.#reservations ??= new CallReservations({ active, costOf, budget, fence, fail });
    return this.#reservations.reserve(...call);
  }

  release(key: string): void {
    if (!this.#fence.superseded) this.#reservations?.release(key);
  }

  ready(step?: StepAhead): Promise<void> | undefined {
    return step && this.#turn.suspect?.begins(step);
  }

  settled(): Promise<void> | undefined {
    return this.#turn.suspect?.settled();
  }

  recall(key: string): StepRecord | undefined {
    this.#check();
    const record = this.#steps.get(key);
    if (record?.outcome) {
      this.#active.answered(tokensOf(record));
      this.#passed.add(key);
      this.#trace.replayed(key, record, record.trace);
    }
    return record;
  }

  stepStarted(key: string, step: Omit<StepRecord, "outcome">): void {
    this.#check();
    const steps = this.#steps;
    const { notBefore, trace } = steps.get(key) ?? {};
    if (notBefore !== undefined && notBefore > this.clock().at) throw new TurnSignal("suspend");
    const traced = {
      ...step,
      trace: this.#trace.attemptStarted(key, step, this.clock().at, trace),
    };
    this.#started.set(key, traced);
    this.#feed.activitySoon(this.#active);
    // After a crash, the results that the effect builds on must be stored.
    this.#parts.stores.db.flush();
    if (step.policy !== "retry") steps.started(key, traced);
    else if (notBefore !== undefined) steps.woken(key, traced);
  }

  ended(key: string, step: StepRecord & { outcome: StepOutcome }): void {
    this.#check();
    const active = this.#active;
    this.#started.delete(key);
    if ("error" in step.outcome) this.#attempts.countCutOff(key);
    const messageId = active.calls.get(key)?.messageId;
    const thought = messageId === undefined ? undefined : this.#live.thoughtOf(messageId);
    const failed = messageId !== undefined && "error" in step.outcome;
    const cutOff = failed ? this.#live.textOf(messageId) : undefined;
    active.calls.delete(key);
    this.#passed.add(key);
    const tokens = tokensOf(step);
    const trace = this.#trace.ended(key, step, tokens, { thought, cutOff });
    this.#steps.ended(key, { ...step, trace }, tokens);
    this.#feed.activitySoon(active);
    active.answered(tokens);
    const exchange = active.exchanges.get(key);
    if (!("ok" in step.outcome)) return;
    if (exchange) exchange.output = step.outcome.ok;
    if (step.kind === "model") this.#note(key, noteIn(step.outcome.ok));
  }

  calls(key: string, call: ModelCallUnderWay): void {
    const active = this.#active;
    active.calls.set(key, call);
    if (this.#parts.telemetry?.wantsContents) active.exchanges.set(key, { input: call.input() });
  }

  spent(key: string, usage: UsageByModel): void {
    this.#attempts.spent(key, usage);
  }

  traceContext(key: string): TraceContext | undefined {
    const { telemetry } = this.#parts;
    // Without telemetry, the caller's context is passed on unchanged.
    if (telemetry === undefined) return this.#active.record.trace?.context;
    return telemetry.contextOf(this.#active, key);
  }

  /** Without the fence: an effect may learn only after the end of its run what it has begun. The end has decided about all other work. */
  abandon(work: RemoteWork): void {
    const { pending } = this.#parts.stores.remoteWork;
    const isLeft = pending.some((left) => left.work.id === work.id);
    if (!this.#fence.superseded || isLeft) this.#leave([work]);
  }

  #leave(works: readonly RemoteWork[]): void {
    const { stores } = this.#parts;
    stores.db.transaction(() => stores.remoteWork.leave(works, this.#active.turnOfTeam));
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
    this.#note(`${scope}/`, message);
  }

  threw(key: string, error: unknown): void {
    this.#attempts.threw(key, error);
  }

  failed(branches: readonly BranchFailure[]): void {
    this.#attempts.failures.failed(branches);
  }

  invalidate(scope: string, key: string): void {
    this.#check();
    const later = this.#steps.from(key, { scope, passed: this.#passed });
    const [once] = later.find(([, step]) => !mayRun(step)) ?? [];
    if (once !== undefined) {
      const message = `"${key}" asks for something else than before the interruption, and "${once}", which came after it, must not run again`;
      this.#fail(new TroupeError("code_changed", message));
    }
    const left = remoteWorkIn(later);
    if (left.length > 0) this.#leave(left);
    const keys = later.map(([other]) => other);
    this.#active.discardSteps(keys, this.#trace.discard(later));
    for (const other of keys) this.#passed.delete(other);
    // The scope of a message is not known; messages of other scopes are emitted again under the same ids.
    const retract = this.#active.events.retractOutstanding();
    if (retract) this.#live.event(retract);
  }

  async backoff(key: string, delay: number, failed: FailedStep): Promise<void> {
    this.#check();
    const waiting = this.#attempts.waits(key, this.#started.get(key), failed, {
      at: this.clock().at,
      delay,
    });
    if (delay > LONGEST_WAIT_IN_MEMORY_MS) throw new TurnSignal("suspend");
    await this.#fence.sleep(delay);
    this.#check();
    this.#steps.due(key, waiting);
  }

  discard(messageId: string): void {
    if (this.#fence.superseded) return;
    this.#attempts.discard(messageId);
    this.#live.discard(messageId);
  }

  flush(): void {
    this.#live.batchComplete();
  }

  answer(question: Question, scope: string): Promise<{ answer: Answer; time: Moment }> {
    this.#check();
    const { stores, feed } = this.#parts;
    const answered = answerTo(question, scope, {
      stores,
      active: this.#active,
      trace: this.#trace,
      feed,
      clock: () => this.clock(),
    });
    if (answered === undefined) throw new TurnSignal("suspend");
    return Promise.resolve(answered);
  }

  /** The failure of this turn by `error`: the step that threw it, if one did, and the steps that a retry repeats. */
  failure(error: unknown): TurnFailure {
    return this.#attempts.failure(error, [...this.#passed]);
  }

  get #attempts(): FailedAttempts {
    const [active, live, steps] = [this.#active, this.#live, this.#steps];
    const [trace, feed] = [this.#trace, this.#feed];
    return (this.#failed ??= new FailedAttempts({ active, live, steps, trace, feed }));
  }

  /** The run shows a note, such as what a model's request lacked. */
  #note(key: string, message: unknown): void {
    const active = this.#active;
    if (typeof message !== "string") return;
    if (active.note({ agent: this.#trace.agentOf(key), message })) this.#feed.runSoon(active);
  }

  #check(): void {
    if (this.#fence.superseded) throw new TurnSignal("superseded");
  }

  /** Ends the run at once: agent and tool code must not make a result of this error. */
  #fail(error: TroupeError): never {
    this.#turn.fail(error);
    throw new TurnSignal("superseded");
  }
}

/** The note in the result of a model's call. */
function noteIn(result: Json): unknown {
  return isJsonObject(result) ? result["note"] : undefined;
}
