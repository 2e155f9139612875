import {
  addTokens,
  subtractTokens,
  type TokensByModel,
  tokensOfCall,
} from "../../../contract/usage/model-usage.ts";
import type { Json } from "../../../core/json.ts";
import type { StepKind, StepPolicy } from "../../../core/steps/step-attempt.ts";
import {
  mayRun,
  type StepFailure,
  type StepOutcome,
  type StepRecord,
} from "../../../core/turn/turn-host.ts";
import type { StepTrace } from "../../../telemetry/spans/turn-trace.ts";
import { isElsewhere, type TextStore } from "../../../sqlite/text-store.ts";
import type { Database, LaterValue } from "../../../sqlite/database.ts";
import { LazyTable } from "../../../sqlite/lazy-table.ts";

/** `result` is null in a started step. */
const STEP_TABLE = `(
  key text primary key, state text not null, attempt integer not null, policy text not null,
  fingerprint text not null, result text, at integer, ran integer, kind text not null default 'effect', trace text
) without rowid`;

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

/** A step with its trace data, which steps of earlier versions do not have. */
export interface TracedStep extends StepRecord {
  trace?: StepTrace;
}

/**
 * The recorded steps of the turn in progress. Read once per turn, then kept in memory and in the table alike. The row
 * of a step that may run again is written with the next statement. That is usually the commit of its turn, after which
 * the row is not needed.
 */
export class StepStore {
  readonly #db: Database;
  readonly #texts: TextStore;
  readonly #table: LazyTable;
  #steps: Map<string, TracedStep> | undefined;
  #tokens: TokensByModel = {};
  /** True if the table may have rows: most are withdrawn before they are written. */
  #hasRows = false;
  /** Keys of the steps whose result is partly stored outside its column. */
  #elsewhere: string[] = [];

  constructor(db: Database, texts: TextStore) {
    this.#db = db;
    this.#texts = texts;
    this.#table = new LazyTable(db, "step", STEP_TABLE);
  }

  get(key: string): TracedStep | undefined {
    return this.#all().get(key);
  }

  entries(): Iterable<readonly [key: string, step: TracedStep]> {
    return this.#all();
  }

  keys(): string[] {
    return [...this.#all().keys()];
  }

  /** A step, and those of its scope that came after it: what was not `passed` before it. */
  from(
    key: string,
    { scope, passed }: { scope: string; passed: ReadonlySet<string> },
  ): (readonly [key: string, step: TracedStep])[] {
    const prefix = scope === "" ? "" : `${scope}/`;
    return [...this.#all()].filter(
      ([other]) => other === key || (other.startsWith(prefix) && !passed.has(other)),
    );
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

  /** The earliest time for which a step waits. */
  get wakeAt(): number | null {
    let earliest: number | null = null;
    for (const { notBefore } of this.#all().values()) {
      if (notBefore !== undefined && (earliest === null || notBefore < earliest))
        earliest = notBefore;
    }
    return earliest;
  }

  /** The longest running time at which a result was recorded. */
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

  /** The step's next attempt is due. */
  due(key: string, step: Omit<TracedStep, "outcome">): void {
    this.#all().set(key, { ...step, notBefore: 0 });
  }

  /** The next attempt at a step of the policy `retry` has started. Its row stays as it is: after a crash it is due. */
  woken(key: string, step: Omit<TracedStep, "outcome">): void {
    this.#all().set(key, step);
  }

  started(key: string, step: Omit<TracedStep, "outcome">): void {
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

  /** @param tokens what its model call has used */
  ended(key: string, step: TracedStep & { outcome: StepOutcome }, tokens: TokensByModel): void {
    this.#all().set(key, step);
    this.#tokens = addTokens(this.#tokens, tokens);
    const { outcome } = step;
    const failed = "error" in outcome;
    // A step without a result (undefined) is recorded as null.
    const text = JSON.stringify(failed ? outcome.error : outcome.ok) ?? "null";
    const column = (): string | null => {
      const stored = this.#texts.storeRemovable(owner(key), text);
      if (isElsewhere(stored)) this.#elsewhere.push(key);
      return stored;
    };
    this.#write(key, failed ? "failed" : "done", step, column, outcome.time);
  }

  /** The steps of a turn that ends: pending rows are not written, unless they are `putBack`. */
  withdraw(): { ended: (readonly [key: string, step: TracedStep])[]; putBack: () => void } {
    const ended = [...this.#all()];
    return { ended, putBack: ended.length === 0 ? () => undefined : this.#db.withdraw("step") };
  }

  /** Returns the tokens of the step, which are no longer counted here. */
  remove(key: string): TokensByModel {
    const tokens = tokensOf(this.get(key));
    this.#tokens = subtractTokens(this.#tokens, tokens);
    this.#all().delete(key);
    this.#db.flush();
    if (this.#hasRows) this.#db.write("delete from step where key = ?", key);
    this.#texts.remove(owner(key));
    return tokens;
  }

  /** Forgets the failed attempts of steps that have no result: they begin again, with all of their patience. */
  forgetAttempts(): void {
    for (const [key, step] of this.#all()) {
      if (step.outcome === undefined && mayRun(step)) this.remove(key);
    }
  }

  clear(): void {
    if (this.#all().size === 0) return;
    // Rows that still wait are deleted with the others.
    this.#db.flush();
    if (this.#hasRows) this.#db.write("delete from step");
    this.#hasRows = false;
    for (const key of this.#elsewhere) this.#texts.remove(owner(key));
    this.#elsewhere = [];
    this.#steps = new Map();
    this.#tokens = {};
  }

  /** Drops the copies in memory after a failed transaction. */
  forget(): void {
    this.#steps = undefined;
  }

  #write(
    key: string,
    state: StepRow["state"],
    { kind, attempt, policy, fingerprint, trace }: Omit<TracedStep, "outcome">,
    result: LaterValue,
    time: { at: number; ran: number } | null,
  ): void {
    const writtenKey = (): string => {
      this.#table.create();
      this.#hasRows = true;
      return key;
    };
    const row: LaterValue[] = [
      writtenKey,
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
    if (policy === "retry") this.#db.writeLater("step", WRITE_STEP, ...row);
    // A step that must not run twice is written at once.
    else this.#db.write(WRITE_STEP, ...row);
  }

  #all(): Map<string, TracedStep> {
    if (this.#steps === undefined) {
      this.#steps = new Map();
      this.#elsewhere = [];
      this.#tokens = {};
      const rows = this.#table.exists ? this.#db.all<StepRow>("select * from step") : [];
      for (const row of rows) {
        const step = this.#load(row);
        this.#steps.set(row.key, step);
        this.#hasRows = true;
        this.#tokens = addTokens(this.#tokens, tokensOf(step));
      }
    }
    return this.#steps;
  }

  #load(row: StepRow): TracedStep {
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
    if (isElsewhere(result)) this.#elsewhere.push(key);
    const text = this.#texts.load(owner(key), result);
    const time = { at: row.at ?? 0, ran: row.ran ?? 0 };
    const outcome: StepOutcome =
      state === "done"
        ? { ok: JSON.parse(text) as Json, time }
        : { error: JSON.parse(text) as StepFailure, time };
    return { ...step, outcome };
  }
}

function owner(key: string): string {
  return `step:${key}`;
}

/** The tokens of a model call that has a result. */
export function tokensOf(step: TracedStep | undefined): TokensByModel {
  if (step?.kind !== "model" || step.outcome === undefined) return {};
  return "ok" in step.outcome ? tokensOfCall(step.outcome.ok) : {};
}
