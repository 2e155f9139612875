import {
  addTokens,
  subtractTokens,
  type TokensByModel,
  tokensOfCall,
} from "../../../contract/usage/model-usage.ts";
import type { Json } from "../../../core/json.ts";
import type { StepKind, StepPolicy } from "../../../core/run/turn-context.ts";
import type { StepFailure, StepOutcome, StepRecord } from "../../../core/run/turn-host.ts";
import type { StepTrace } from "../../../telemetry/turn-trace.ts";
import type { TextStore } from "../text-store.ts";
import type { Database } from "../database.ts";

const WRITE_STEP = `insert into step (key, state, attempt, policy, fingerprint, result, at, ran, kind, trace)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (key) do update set
  state = excluded.state, attempt = excluded.attempt, policy = excluded.policy,
  fingerprint = excluded.fingerprint, result = excluded.result, at = excluded.at,
  ran = excluded.ran, kind = excluded.kind, trace = excluded.trace`;

interface StepRow extends Record<string, string | number | null> {
  key: string;
  state: "started" | "waiting" | "done" | "failed";
  attempt: number;
  policy: StepPolicy;
  fingerprint: string;
  result: string | null;
  at: number | null;
  ran: number | null;
  kind: StepKind;
  trace: string | null;
}

/** A step with what its trace shows, which steps of earlier versions do not have. */
export interface TracedStep extends StepRecord {
  trace?: StepTrace;
}

/** A step as stored. `notBefore` (epoch milliseconds): when its next attempt may be made. */
export interface StoredStep extends TracedStep {
  notBefore?: number;
}

/**
 * The recorded steps of the turn in progress. Read once per turn, then kept in memory and in the table alike. The row of a
 * step that may run again is written with the next statement: the commit of its turn usually is that, and needs it no more.
 */
export class StepStore {
  readonly #db: Database;
  readonly #texts: TextStore;
  #steps: Map<string, StoredStep> | undefined;
  #tokens: TokensByModel = {};
  #withParts: string[] = [];

  constructor(db: Database, texts: TextStore) {
    this.#db = db;
    this.#texts = texts;
  }

  get(key: string): StoredStep | undefined {
    return this.#all().get(key);
  }

  entries(): Iterable<readonly [key: string, step: StoredStep]> {
    return this.#all();
  }

  keys(): string[] {
    return [...this.#all().keys()];
  }

  /** Number of steps with a result. */
  get finished(): number {
    let count = 0;
    for (const step of this.#all().values()) if (step.outcome) count++;
    return count;
  }

  /** Tokens of the model calls that have a result. */
  get tokens(): TokensByModel {
    this.#all();
    return this.#tokens;
  }

  /** The earliest time a step waits for. */
  get wakeAt(): number | null {
    let earliest: number | null = null;
    for (const { notBefore } of this.#all().values()) {
      if (notBefore !== undefined && (earliest === null || notBefore < earliest))
        earliest = notBefore;
    }
    return earliest;
  }

  /** The longest running time a result was recorded at. */
  get ran(): number {
    let longest = 0;
    for (const { outcome } of this.#all().values())
      longest = Math.max(longest, outcome?.time.ran ?? 0);
    return longest;
  }

  /** When the last result was recorded, epoch milliseconds; 0 before the first. */
  get lastAt(): number {
    let last = 0;
    for (const { outcome } of this.#all().values()) last = Math.max(last, outcome?.time.at ?? 0);
    return last;
  }

  /** The step's wait is over: its next attempt has begun. */
  woken(key: string, step: Omit<TracedStep, "outcome">): void {
    this.#all().set(key, step);
  }

  begun(key: string, step: Omit<TracedStep, "outcome">): void {
    this.#all().set(key, step);
    this.#write(key, "started", step, null, null);
  }

  /** The next attempt is due at `notBefore`. */
  waits(key: string, step: Omit<TracedStep, "outcome">, notBefore: number): void {
    this.#all().set(key, { ...step, notBefore });
    // Such a row has no result yet: its time is that of the first failure.
    const { failingSince = notBefore } = step;
    this.#write(key, "waiting", step, String(notBefore), { at: failingSince, ran: 0 });
  }

  ended(key: string, step: TracedStep & { outcome: StepOutcome }): void {
    this.#all().set(key, step);
    this.#tokens = addTokens(this.#tokens, tokensOf(step));
    const { outcome } = step;
    const failed = "error" in outcome;
    // A step without a result (undefined) is recorded as null.
    const text = JSON.stringify(failed ? outcome.error : outcome.ok) ?? "null";
    const column = this.#texts.store(`step:${key}`, text);
    if (column === null) this.#withParts.push(key);
    this.#write(key, failed ? "failed" : "done", step, column, outcome.time);
  }

  /** Before an effect: a crash from here on must find the results that it builds on. */
  settle(): void {
    this.#db.settle();
  }

  /** Takes back rows that are still to be written. Returns what writes them after all. */
  withdraw(): () => void {
    return this.#db.withdraw("step");
  }

  /** Returns the tokens of the step, which count no longer here. */
  remove(key: string): TokensByModel {
    const tokens = tokensOf(this.get(key));
    this.#tokens = subtractTokens(this.#tokens, tokens);
    this.#all().delete(key);
    this.#db.write("delete from step where key = ?", key);
    this.#texts.remove(`step:${key}`);
    return tokens;
  }

  clear(): void {
    if (this.#all().size === 0) return;
    this.#db.write("delete from step");
    for (const key of this.#withParts) this.#texts.remove(`step:${key}`);
    this.#withParts = [];
    this.#steps = new Map();
    this.#tokens = {};
  }

  /** After a transaction that failed. */
  forget(): void {
    this.#steps = undefined;
  }

  #write(
    key: string,
    state: StepRow["state"],
    { kind, attempt, policy, fingerprint, trace }: Omit<TracedStep, "outcome">,
    result: string | null,
    time: { at: number; ran: number } | null,
  ): void {
    const row = [
      key,
      state,
      attempt,
      policy,
      fingerprint,
      result,
      time?.at ?? null,
      time?.ran ?? null,
      kind,
      trace === undefined ? null : JSON.stringify(trace),
    ];
    // What must not run twice is written at once, and so is what has its result in parts, which are stored already.
    const inParts = time !== null && result === null;
    if (policy === "retry" && !inParts) this.#db.writeLater("step", WRITE_STEP, ...row);
    else this.#db.write(WRITE_STEP, ...row);
  }

  #all(): Map<string, StoredStep> {
    if (this.#steps === undefined) {
      this.#steps = new Map();
      this.#withParts = [];
      this.#tokens = {};
      for (const row of this.#db.all<StepRow>("select * from step")) {
        const step = this.#load(row);
        this.#steps.set(row.key, step);
        this.#tokens = addTokens(this.#tokens, tokensOf(step));
      }
    }
    return this.#steps;
  }

  #load(row: StepRow): StoredStep {
    const { key, state, kind, attempt, policy, fingerprint, result } = row;
    const step = {
      kind,
      policy,
      attempt,
      fingerprint,
      ...(row.trace !== null && { trace: JSON.parse(row.trace) as StepTrace }),
    };
    if (state === "started") return step;
    if (state === "waiting") {
      const failingSince = row.at === null ? {} : { failingSince: row.at };
      return { ...step, ...failingSince, notBefore: Number(result) };
    }
    if (result === null) this.#withParts.push(key);
    const value = JSON.parse(this.#texts.load(`step:${key}`, result)) as Json;
    const time = { at: row.at ?? 0, ran: row.ran ?? 0 };
    const outcome: StepOutcome =
      state === "done" ? { ok: value, time } : { error: value as unknown as StepFailure, time };
    return { ...step, outcome };
  }
}

function tokensOf(step: StoredStep | undefined): TokensByModel {
  if (step?.kind !== "model" || step.outcome === undefined) return {};
  return "ok" in step.outcome ? tokensOfCall(step.outcome.ok) : {};
}
