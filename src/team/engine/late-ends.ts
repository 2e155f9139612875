import type { ComponentModel } from "../../core/component/component-model.ts";
import { errorMessage } from "../../core/errors.ts";
import { observersOf, type Unfinished } from "../../core/run/run-observer.ts";
import type { Runnable } from "../../core/run/runnable.ts";
import { TurnScope } from "../../core/turn/turn-scope.ts";
import {
  addCosts,
  addToUsage,
  type CostOf,
  NO_USAGE,
  totalCost,
  addTokens,
  type TokensByModel,
  tokensOfCall,
} from "../../contract/usage/model-usage.ts";
import { addUsage } from "../../core/models/request-usage.ts";
import { wait } from "../../core/wait.ts";
import { type LeftEnd, nextAttempt } from "../storage/outbox/unfinished-store.ts";
import type { Stores } from "../storage/stores.ts";
import type { AlarmSource, TeamAlarm } from "../storage/team-alarm.ts";
import { noted, usedLater } from "./run-state.ts";
import { type OtherMemories, TurnMemory } from "./journal/turn-memory.ts";
import { isJsonObject } from "../../core/json.ts";
import { ModelError } from "../../core/models/model-error.ts";
import { TurnSignal } from "../../core/steps/signals.ts";
import type { StepCache } from "../../core/steps/step-attempt.ts";
import type { RunContext } from "../../core/turn/run-context.ts";
import type {
  FailedStep,
  Moment,
  StepOutcome,
  StepRecord,
  TurnHost,
} from "../../core/turn/turn-host.ts";
import type { RunRecord } from "../storage/runs/run-record.ts";
import { runContextOf } from "./journal/turn-facts.ts";

/** A run under way is waited for, because a turn that is repeated must read the same; it is looked for again after this time. */
const RUNNING_MS = 5_000;

export interface LateEndsOptions {
  stores: Stores;
  alarm: TeamAlarm;
  /** Makes the team of a component, with its secrets. */
  build: (component: ComponentModel) => Promise<Runnable>;
  costOf: CostOf;
  env: object;
  memories: OtherMemories | undefined;
  /** True while a turn is in progress. */
  isRunning: () => boolean;
}

type StillLeft = Unfinished & Pick<LeftEnd, "error">;

/**
 * Makes the attempts that are left after runs whose observers met an error that passes, for at most a day; then the run gets
 * a note with the cause. What they write is stored once, together with what they cost.
 */
export class LateEnds implements AlarmSource {
  readonly #options: LateEndsOptions;
  #working: Promise<void> | undefined;
  #notBefore = 0;
  #closed = false;

  constructor(options: LateEndsOptions) {
    const { alarm, stores } = options;
    this.#options = options;
    alarm.serve(this);
    // After the transaction that leaves the work.
    stores.unfinished.onLeft = () => setTimeout(() => this.#setAlarm(), 0);
  }

  get dueAt(): number | null {
    const { pending } = this.#options.stores.unfinished;
    if (pending.length === 0) return null;
    // The work under way makes all attempts that are due: the alarm is for an object that ends before.
    const notBefore = this.#working === undefined ? this.#notBefore : Date.now() + RUNNING_MS;
    return Math.max(notBefore, Math.min(...pending.map(({ next_at }) => next_at)));
  }

  /** Not awaited: the alarm has other work. */
  onAlarm(): void {
    const { dueAt } = this;
    if (dueAt === null || dueAt > Date.now() || this.#working !== undefined) return;
    this.#working = this.#work()
      .catch(() => {
        // It could not be stored; the alarm tries again.
        this.#options.stores.unfinished.forget();
        this.#notBefore = Date.now() + RUNNING_MS;
      })
      .finally(() => {
        this.#working = undefined;
        this.#setAlarm();
      });
  }

  #setAlarm(): void {
    if (!this.#closed) this.#options.alarm.set(this);
  }

  /** The team is erased. */
  close(): void {
    this.#closed = true;
  }

  async #work(): Promise<void> {
    const { stores, isRunning } = this.#options;
    for (;;) {
      const now = Date.now();
      const left = stores.unfinished.pending.find(({ next_at }) => next_at <= now);
      if (left === undefined || this.#closed) return;
      if (isRunning()) {
        this.#notBefore = now + RUNNING_MS;
        return;
      }
      await this.#attempt(left, now);
    }
  }

  async #attempt(left: LeftEnd, now: number): Promise<void> {
    const { stores, memories, isRunning } = this.#options;
    const run = stores.runs.byId(left.run);
    const begun = nextAttempt(left, now);
    if (run === undefined || begun === undefined) {
      return this.#end(left, { notes: [noteOf(left)], tokens: {} });
    }
    // Before the attempt: one that ends the object has failed, too.
    stores.unfinished.replace(left, begun);
    const turn = new LateTurn(this.#options, begun, run.record);
    const unfinished = await this.#finish(begun, turn);
    await turn.memory.ready();
    // A run may have begun meanwhile.
    while (turn.memory.hasOwn && isRunning() && !this.#closed) await wait(RUNNING_MS, turn.signal);
    // The team was erased meanwhile, or the run is to be forgotten.
    if (this.#closed || !stores.unfinished.pending.includes(begun)) return;
    this.#end(begun, turn, unfinished);
    if (turn.memory.hasMail) memories?.written();
  }

  /** @returns what is still left */
  async #finish(left: LeftEnd, turn: LateTurn): Promise<StillLeft | undefined> {
    const { stores, build } = this.#options;
    let team: Runnable | undefined;
    try {
      team = await build(stores.team.component);
      const observer = observersOf(team).get(left.path);
      if (observer === undefined) {
        turn.noted(left.path, noteOf(left));
        return undefined;
      }
      return await observer.finish(left.todo, TurnScope.root(turn).scope(`end${left.path}`));
    } catch (error) {
      return { todo: left.todo, note: left.note, error: errorMessage(error) };
    } finally {
      await team?.close();
    }
  }

  /** Stores what an attempt has done, with what is still left. */
  #end(
    left: LeftEnd,
    {
      memory,
      notes,
      tokens,
    }: Pick<LateTurn, "notes" | "tokens"> & Partial<Pick<LateTurn, "memory">>,
    unfinished?: StillLeft,
  ): void {
    const { stores, costOf } = this.#options;
    const remember = unfinished === undefined ? memory?.prepare() : undefined;
    stores.db.transaction(() => {
      remember?.();
      const { error: _, ...rest } = left;
      stores.unfinished.replace(left, unfinished && { ...rest, ...unfinished });
      const run = stores.runs.byId(left.run);
      const used = addToUsage(NO_USAGE, tokens, costOf);
      const hasUsed = Object.keys(tokens).length > 0;
      if (run === undefined || (!hasUsed && notes.length === 0)) return;
      const { seq } = run;
      const { usage, models = {} } = run.record;
      const record = notes
        .filter((message) => !run.record.notes?.some((note) => note.message === message))
        .reduce(
          (before, message) => noted(before, { agent: null, message }),
          usedLater(run.record, addToUsage({ usage, models }, tokens, costOf)),
        );
      stores.runs.update({ seq, record });
      if (!hasUsed) return;
      const { team } = stores;
      team.save({
        usage: addUsage(team.record.usage, used.usage),
        cost: addCosts(team.record.cost ?? null, totalCost(used.models)),
      });
      stores.announcer.later({ seq, record }, { at: new Date().toISOString(), ...used });
    });
  }
}

function noteOf({ note, error }: LeftEnd): string {
  return error === undefined ? note : `${note} (${error})`;
}

interface LateTurnOptions {
  stores: Stores;
  env: object;
  memories: OtherMemories | undefined;
}

/**
 * The host of one attempt to finish what a run has left. It records no steps: an attempt that is interrupted leaves nothing, and
 * the next one begins again.
 */
class LateTurn implements TurnHost {
  readonly turnId: string;
  readonly started: Moment;
  readonly signal = new AbortController().signal;
  readonly stopRequested = false;
  readonly env: object;
  readonly run: RunContext;
  readonly memory: TurnMemory;
  readonly cache: StepCache;
  readonly session: string;
  /** The usage of its model calls. */
  tokens: TokensByModel = {};
  readonly notes: string[] = [];

  constructor({ stores, env, memories }: LateTurnOptions, left: LeftEnd, record: RunRecord) {
    // A fact that is learned holds from the last finished turn on.
    const turnOfTeam = stores.commits.turn;
    const { run, path, attempts, turn_started: turnStarted } = left;
    this.turnId = `${run}/later/${attempts}${path}`;
    this.started = turnStarted;
    this.env = env;
    this.run = runContextOf(record, stores);
    this.cache = stores.cache;
    this.session = stores.team.session;
    this.memory = new TurnMemory(stores, { record, turnOfTeam, turnStarted }, memories, undefined);
  }

  clock(): Moment {
    return { at: Date.now(), ran: this.started.ran };
  }

  gate(): void {}

  recall(): undefined {}

  stepStarted(): void {}

  ended(_key: string, { kind, outcome }: StepRecord & { outcome: StepOutcome }): void {
    if (!("ok" in outcome) || kind !== "model") return;
    this.tokens = addTokens(this.tokens, tokensOfCall(outcome.ok));
    const note = isJsonObject(outcome.ok) ? outcome.ok["note"] : undefined;
    if (typeof note === "string") this.noted("", note);
  }

  noted(_scope: string, message: string): void {
    if (!this.notes.includes(message)) this.notes.push(message);
  }

  threw(_key: string, error: unknown): void {
    if (error instanceof ModelError && error.spent)
      this.tokens = addTokens(this.tokens, error.spent);
  }

  failed(): void {}

  invalidate(): void {}

  discard(): void {}

  async backoff(key: string, delay: number, { error }: FailedStep): Promise<void> {
    this.threw(key, error);
    await wait(delay, this.signal);
  }

  answer(): never {
    // The run is over: no client answers.
    throw new TurnSignal("cancel");
  }
}
