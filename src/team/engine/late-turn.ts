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
import { wait } from "../../core/wait.ts";
import { addTokens, type TokensByModel, tokensOfCall } from "../../contract/usage/model-usage.ts";
import type { LeftEnd } from "../storage/outbox/unfinished-store.ts";
import type { RunRecord } from "../storage/runs/run-record.ts";
import type { Stores } from "../storage/stores.ts";
import { runContextOf } from "./journal/turn-facts.ts";
import { type OtherMemories, TurnMemory } from "./journal/turn-memory.ts";

export interface LateTurnOptions {
  stores: Stores;
  env: object;
  memories: OtherMemories | undefined;
}

/**
 * The host of one attempt to finish what a run has left. It records no steps: an attempt that is interrupted leaves nothing, and
 * the next one begins again.
 */
export class LateTurn implements TurnHost {
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
    this.memory = new TurnMemory(stores, { record, turnOfTeam, turnStarted }, memories);
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
