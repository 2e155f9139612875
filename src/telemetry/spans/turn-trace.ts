import { beginningOf } from "../../core/cut.ts";
import { type TokensByModel, tokensOfCall } from "../../contract/usage/model-usage.ts";
import { errorMessage, TroupeError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import type { TokenUsage } from "../../core/models/request-usage.ts";
import type { StepSubject } from "../../core/steps/step-attempt.ts";
import type { ScopeSubject } from "../../core/turn/turn-context.ts";
import type { StepRecord } from "../../core/turn/turn-host.ts";
import {
  type FailedAttempt,
  isInside,
  MOST_SPANS,
  type TurnSpan,
  type TurnSpans,
} from "./stored-spans.ts";

/** An agent or a tool around a step. */
type Around = readonly [path: string, kind: ScopeSubject["kind"], name: string, start: number];

/** The trace data of a step besides its record, kept until its turn is committed. */
export interface StepTrace {
  /** When it was first attempted, epoch milliseconds. */
  start: number;
  subject?: StepSubject;
  failed?: readonly FailedAttempt[];
  /** Outermost scope first. */
  around: readonly Around[];
  recovered?: true;
  thought?: number;
  /** The part of an answer that had arrived when the last attempt failed. */
  cutOff?: string;
}

/** The most characters kept of the text of an attempt that failed, and of what its error says. */
const LONGEST_TEXT = 16_384;
const LONGEST_MESSAGE = 2_000;
/** The most failed attempts kept of a step: the first ones, and the last one. */
const MOST_ATTEMPTS = 20;

/** A step that has no result yet. Times are epoch milliseconds. */
export interface StepUnderWay {
  path: string;
  agent: string | null;
  kind: TurnSpan["kind"];
  subject: StepSubject | undefined;
  attempt: number;
  /** When the first attempt began. */
  start: number;
  /** The last failure, if there was one. */
  failure: Failure | undefined;
  /** While it waits: when it is tried again. */
  nextAt: number | null;
}

interface Failure {
  type: string;
  message: string;
}

/** A wait for a human, as its question is stored. Times are epoch milliseconds. */
export interface Wait {
  id: string;
  source: string;
  start: number;
  end: number | null;
}

interface Step {
  kind: TurnSpan["kind"];
  start: number;
  end: number | null;
  subject: StepSubject | undefined;
  attempts: number;
  attemptedAt: number;
  failed: FailedAttempt[];
  /** The last failure. */
  failure: Failure | undefined;
  nextAt: number | null;
  tokens: TokenUsage | null;
  error: string | null;
  note?: string;
  thought?: number;
  cutOff?: string;
  recovered: boolean;
}

export interface TurnTraceOptions {
  /** When the run began, epoch milliseconds. Anything that ended before belongs to the run that it retries. */
  since: number;
  /** True if the turn runs again after an interruption. */
  recovering: boolean;
  /** The result of {@link TurnTrace.discard} before that. */
  discarded: TurnSpans;
}

/** The trace of a turn in progress: its agents, steps and waits, in the order in which they began. */
export class TurnTrace {
  readonly #options: TurnTraceOptions;
  readonly #scopes = new Map<string, Around>();
  readonly #steps = new Map<string, Step>();
  readonly #waits = new Map<string, Wait & { scope: string }>();
  readonly #discarded: TurnSpan[];
  /** The number of scopes, steps and waits that had started before it, by its path. Many start in the same millisecond. */
  readonly #order = new Map<string, number>();

  constructor(options: TurnTraceOptions) {
    this.#options = options;
    this.#discarded = [...options.discarded.spans];
  }

  /** Starts an agent or a tool in this scope. */
  described(scope: string, { kind, name }: ScopeSubject, at: number): void {
    this.#begins(scope);
    this.#scopes.set(scope, [scope, kind, name, Math.max(at, this.#options.since)]);
  }

  /**
   * Starts an attempt at a step. Returns the data that the step's row keeps.
   *
   * @param trace what the row kept of the attempts before the turn ran again
   */
  attemptStarted(key: string, record: StepRecord, at: number, trace?: StepTrace): StepTrace {
    this.underWayBefore(key, record, at, trace);
    const step = this.#steps.get(key) ?? newStep(record, at);
    const last = step.failed.pop();
    if (last !== undefined) step.failed.push({ ...last, next: at });
    step.attempts = record.attempt;
    step.attemptedAt = at;
    step.nextAt = null;
    return this.#traceOf(key, step);
  }

  /** A step had no result yet when the turn was suspended or interrupted. */
  underWayBefore(key: string, record: StepRecord, at: number, trace?: StepTrace): void {
    if (this.#steps.has(key)) return;
    const kept = trace !== undefined && trace.start >= this.#options.since ? trace : undefined;
    const step = newStep({ ...record, ...kept }, kept?.start ?? at);
    step.failed.push(...(kept?.failed ?? []));
    this.#setStep(key, step);
  }

  /**
   * Records that the last attempt at a step has failed and will be followed by another. Returns the data to keep for the step.
   *
   * @param text what had arrived of its answer
   */
  attemptFailed(
    key: string,
    error: unknown,
    { at, nextAt, text }: { at: number; nextAt: number; text: string | undefined },
  ): StepTrace | undefined {
    const step = this.#steps.get(key);
    if (step === undefined) return undefined;
    const type = errorType(error);
    const message = errorMessage(error);
    if (step.failed.length >= MOST_ATTEMPTS) step.failed.pop();
    step.failed.push({
      attempt: step.attempts,
      start: step.attemptedAt,
      end: at,
      error: type,
      next: nextAt,
      message: beginningOf(message, LONGEST_MESSAGE),
      ...(text && { text: beginningOf(text, LONGEST_TEXT) }),
    });
    step.failure = { type, message };
    step.nextAt = nextAt;
    return this.#traceOf(key, step);
  }

  /** The steps that have no result yet, in the order in which they began. */
  underWay(): StepUnderWay[] {
    return [...this.#steps]
      .filter(([, { end }]) => end === null)
      .map(([path, { kind, subject, attempts: attempt, start, failure, nextAt }]) => {
        const agent = this.agentOf(path);
        return { path, agent, kind, subject, attempt, start, failure, nextAt };
      });
  }

  /** Attempts at a step. */
  attemptsOf(key: string): number | null {
    return this.#steps.get(key)?.attempts ?? null;
  }

  /** The innermost agent that a step belongs to; null for one of the team's manager. */
  agentOf(key: string): string | null {
    const agents = this.#around(key).filter(([, kind]) => kind === "agent");
    return agents.at(-1)?.[2] ?? null;
  }

  /** The agents and tools around what is in a scope, the outermost first. */
  namesAround(scope: string): { path: string; name: string }[] {
    return this.#around(`${scope}/`).map(([path, , name]) => ({ path, name }));
  }

  /**
   * Returns the data to keep for the step.
   *
   * @param tokens what a model call has used @param streamed what is known of a model's streamed answer
   */
  ended(
    key: string,
    record: StepRecord,
    tokens: TokensByModel,
    { thought, cutOff }: { thought?: number | undefined; cutOff?: string | undefined } = {},
  ): StepTrace {
    const at = record.outcome?.time.at ?? 0;
    const step = this.#steps.get(key) ?? newStep(record, at);
    if (thought !== undefined) step.thought = thought;
    if (cutOff) step.cutOff = beginningOf(cutOff, LONGEST_TEXT);
    finish(step, record, tokens);
    this.#setStep(key, step);
    return this.#traceOf(key, step);
  }

  /** The recorded result of a step is used. @param trace missing where an earlier version recorded it */
  replayed(key: string, record: StepRecord, trace: StepTrace | undefined): void {
    const step = this.#recorded(record, trace);
    if (step === undefined) return;
    step.recovered = this.#options.recovering || trace?.recovered === true;
    this.#setStep(key, step);
  }

  /**
   * These steps run again, because their recorded results cannot be used.
   *
   * @returns all spans of the turn's discarded steps, which have to be kept until its commit
   */
  discard(
    steps: Iterable<readonly [key: string, record: StepRecord & { trace?: StepTrace }]>,
  ): TurnSpans {
    for (const [key, record] of steps) {
      this.#steps.delete(key);
      const step = record.outcome && this.#recorded(record, record.trace);
      if (step) this.#discarded.push({ ...stepSpan(key, step), discarded: true });
    }
    return atMost(this.#discarded, this.#options.discarded.dropped);
  }

  /** A question was asked in this scope, now or before the turn ran again. */
  waits(wait: Wait, scope: string): void {
    if (wait.end !== null && wait.end < this.#options.since) return;
    this.#begins(waitPath(wait.id, scope));
    this.#waits.set(wait.id, { ...wait, scope });
  }

  /**
   * The spans by start time, scopes before their contents. @param closedAt unfinished spans end then, cancelled;
   * without it, they have no end
   */
  spans(closedAt?: number): TurnSpans {
    const steps = [...this.#steps].map(([path, step]) => stepSpan(path, step));
    const waits = [...this.#waits.values()].map(waitSpan);
    const inner = [...this.#discarded, ...steps, ...waits].map((span) => closed(span, closedAt));
    const scopes = [...this.#scopes.values()].map((scope) => scopeSpan(scope, inner));
    const sorted = [...scopes, ...inner].toSorted(
      (a, b) => a.start - b.start || this.#orderOf(a) - this.#orderOf(b),
    );
    return atMost(sorted, this.#options.discarded.dropped);
  }

  /** Undefined for one of the run that this one retries. */
  #recorded(record: StepRecord, trace: StepTrace | undefined): Step | undefined {
    const at = record.outcome?.time.at ?? 0;
    if (at < this.#options.since) return undefined;
    const step = newStep({ ...record, ...trace }, trace?.start ?? at);
    step.failed.push(...(trace?.failed ?? []));
    if (trace?.thought !== undefined) step.thought = trace.thought;
    const { outcome } = record;
    finish(step, record, outcome && "ok" in outcome ? tokensOfCall(outcome.ok) : {});
    for (const around of trace?.around ?? []) {
      this.#begins(around[0]);
      if (!this.#scopes.has(around[0])) this.#scopes.set(around[0], around);
    }
    return step;
  }

  #setStep(key: string, step: Step): void {
    this.#begins(key);
    this.#steps.set(key, step);
  }

  #begins(path: string): void {
    if (!this.#order.has(path)) this.#order.set(path, this.#order.size);
  }

  /** Discarded spans come last: after the scopes around them, and after the spans that replaced them. */
  #orderOf({ path, discarded }: TurnSpan): number {
    return (discarded ? undefined : this.#order.get(path)) ?? this.#order.size;
  }

  #traceOf(key: string, { start, subject, failed, thought, cutOff }: Step): StepTrace {
    return {
      start,
      ...(subject && { subject }),
      ...(failed.length > 0 && { failed: [...failed] }),
      ...(thought !== undefined && { thought }),
      ...(cutOff !== undefined && { cutOff }),
      around: this.#around(key),
    };
  }

  /** The agents and tools around a step, outermost first. */
  #around(key: string): Around[] {
    return [...this.#scopes.values()].filter(([path]) => isInside(key, path));
  }
}

/** The code of an error of this library, the name of another. */
export function errorType(error: unknown): string {
  if (error instanceof TroupeError) return error.code;
  return error instanceof Error ? error.name : typeof error;
}

function newStep({ kind, attempt, subject }: StepRecord, at: number): Step {
  return {
    kind,
    start: at,
    end: null,
    subject,
    attempts: attempt,
    attemptedAt: at,
    failed: [],
    failure: undefined,
    nextAt: null,
    tokens: null,
    error: null,
    recovered: false,
  };
}

function finish(step: Step, { kind, attempt, outcome }: StepRecord, tokens: TokensByModel): void {
  if (outcome === undefined) return;
  step.attempts = Math.max(1, attempt);
  step.end = outcome.time.at;
  if ("error" in outcome) {
    const { code, name } = outcome.error;
    step.error = code === "run_failed" ? name : code;
    return;
  }
  const result = memberOf(outcome.ok);
  if (kind === "model") {
    step.tokens = Object.values(tokens)[0] ?? null;
    step.subject = answeredBy(step.subject, result["model"]);
    if (typeof result["note"] === "string") step.note = result["note"];
  }
  if (kind === "tool" && memberOf(result["result"])["is_error"] === true) step.error = "tool_error";
}

/** The model that answered. It may differ from the first one when the client has several. */
function answeredBy(subject: StepSubject | undefined, model: unknown): StepSubject | undefined {
  const isOther = typeof model === "string" && model !== "" && model !== subject?.name;
  return isOther ? { name: model } : subject;
}

/** @param dropped the spans dropped before */
function atMost(spans: readonly TurnSpan[], dropped: number): TurnSpans {
  const more = Math.max(0, spans.length - MOST_SPANS);
  return { spans: spans.slice(0, MOST_SPANS), dropped: dropped + more };
}

function memberOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null
    ? (value as { [name: string]: Json | undefined })
    : {};
}

function stepSpan(path: string, step: Step): TurnSpan {
  const { kind, start, end, subject, attempts, failed, tokens, error, note, thought, recovered } =
    step;
  return {
    kind,
    path,
    start,
    end,
    name: subject?.name ?? null,
    provider: subject?.provider ?? null,
    attempts,
    failed,
    tokens,
    error,
    ...(note !== undefined && { note }),
    ...(thought !== undefined && { thought }),
    recovered,
    discarded: false,
  };
}

const NOT_A_STEP = {
  provider: null,
  attempts: 1,
  failed: [],
  tokens: null,
  error: null,
  recovered: false,
  discarded: false,
} as const;

function waitSpan({ id, scope, source, start, end }: Wait & { scope: string }): TurnSpan {
  return { ...NOT_A_STEP, kind: "wait", path: waitPath(id, scope), start, end, name: source };
}

function waitPath(id: string, scope: string): string {
  const key = `ask:${id.slice(0, 8)}`;
  return scope === "" ? key : `${scope}/${key}`;
}

/** An agent's span ends with the last span in it, because its own work takes no time. */
function scopeSpan([path, kind, name, start]: Around, inner: readonly TurnSpan[]): TurnSpan {
  let end: number | null = start;
  for (const span of inner) {
    if (!isInside(span.path, path)) continue;
    if (span.end === null) end = null;
    else if (end !== null) end = Math.max(end, span.end);
  }
  return { ...NOT_A_STEP, kind, path, start, end, name };
}

function closed(span: TurnSpan, at: number | undefined): TurnSpan {
  if (span.end !== null || at === undefined) return span;
  return { ...span, end: Math.max(at, span.start), error: "cancelled" };
}
