import {
  type TokenUsage,
  type UsageDetails,
  usageDetails,
} from "../../core/models/request-usage.ts";

/** Fields that few spans have: attempts, failed attempts, error, note, recovered, discarded, details of the usage, thought. */
interface RareSpanFields {
  a?: number;
  /** `wait`: milliseconds until the next attempt. `number`: of the attempt, where some before it were left out. */
  f?: (readonly [start: number, ms: number, error: string, wait?: number, number?: number])[];
  e?: string;
  n?: string;
  r?: 1;
  d?: 1;
  u?: UsageDetails;
  t?: number;
}

/**
 * Kind, number of the enclosing span (from 1; 0: the turn), path below that one, milliseconds after the turn's
 * beginning, duration, name, provider, tokens in and out; the last ones may be missing. A {@link RareSpanFields} stands at the
 * end.
 */
type StoredSpan = readonly (string | number | null | RareSpanFields)[];

/** The spans of a turn as they are stored with its commit: a few dozen bytes each. A number at the end: those left out. */
export type StoredSpans = readonly (StoredSpan | number)[];

const CODES = { agent: "a", model: "m", tool: "t", effect: "e", wait: "w" } as const;
const KINDS = Object.fromEntries(
  Object.entries(CODES).map(([kind, code]) => [code, kind]),
) as Record<string, TurnSpan["kind"]>;

/** The name that the paths of a team's members have: it need not be stored again. */
const MEMBER = "speaker:";

/** @param started the start of the turn, epoch milliseconds @returns undefined for a turn without spans */
export function storeSpans(
  { spans, dropped }: TurnSpans,
  started: number,
): StoredSpans | undefined {
  if (spans.length === 0) return undefined;
  const stored: (StoredSpan | number)[] = spans.map((span) => {
    const parent = enclosing(span, spans);
    const scope = spans[parent - 1]?.path ?? "";
    const path = scope === "" ? span.path : span.path.slice(scope.length + 1);
    const { name, provider, tokens } = span;
    const fields = [
      CODES[span.kind],
      parent,
      path,
      span.start - started,
      (span.end ?? span.start) - span.start,
      path === `${MEMBER}${name}` ? null : name,
      provider,
      tokens?.prompt_tokens ?? null,
      tokens?.completion_tokens ?? null,
    ];
    while (fields.at(-1) === null) fields.pop();
    const rest = restOf(span);
    return rest === undefined ? fields : [...fields, rest];
  });
  return dropped > 0 ? [...stored, dropped] : stored;
}

export function loadSpans(stored: StoredSpans | undefined, started: number): TurnSpans {
  const spans: TurnSpan[] = [];
  let dropped = 0;
  for (const entry of stored ?? []) {
    if (typeof entry === "number") {
      dropped = entry;
      continue;
    }
    const last = entry.at(-1);
    const rest: RareSpanFields = typeof last === "object" && last !== null ? last : {};
    const fields = (rest === last ? entry.slice(0, -1) : entry) as (string | number | null)[];
    const [code, parent, below, offset, ms, name = null, provider = null, prompt, completion] =
      fields as [string, number, string, number, number, ...(string | null)[]];
    const scope = spans[parent - 1]?.path ?? "";
    const start = started + offset;
    spans.push({
      kind: KINDS[code] ?? "effect",
      path: scope === "" ? below : `${scope}/${below}`,
      start,
      end: start + ms,
      name: name ?? (below.startsWith(MEMBER) ? below.slice(MEMBER.length) : null),
      provider,
      attempts: rest.a ?? 1,
      failed: (rest.f ?? []).map(([at, lasted, error, wait, number], index): FailedAttempt => {
        const ended = start + at + lasted;
        return {
          attempt: number ?? index + 1,
          start: start + at,
          end: ended,
          error,
          ...(wait !== undefined && { next: ended + wait }),
        };
      }),
      tokens:
        typeof prompt === "number"
          ? { prompt_tokens: prompt, completion_tokens: Number(completion ?? 0), ...rest.u }
          : null,
      error: rest.e ?? null,
      ...(rest.n !== undefined && { note: rest.n }),
      ...(rest.t !== undefined && { thought: rest.t }),
      recovered: rest.r === 1,
      discarded: rest.d === 1,
    });
  }
  return { spans, dropped };
}

/** Number of the innermost agent or tool around it, from 1; 0 for none. Scopes come before the spans inside them. */
export function enclosing(span: TurnSpan, spans: readonly TurnSpan[]): number {
  let found = 0;
  for (const [index, other] of spans.entries()) {
    if (other === span || !isScope(other) || !isInside(span.path, other.path)) continue;
    if (found === 0 || other.path.length > (spans[found - 1]?.path.length ?? 0)) found = index + 1;
  }
  return found;
}

/** True if the span can contain other spans; a step cannot. */
function isScope({ kind, discarded }: TurnSpan): boolean {
  return (kind === "agent" || kind === "tool") && !discarded;
}

function restOf({
  attempts,
  failed,
  error,
  note,
  thought,
  recovered,
  discarded,
  start,
  tokens,
}: TurnSpan): RareSpanFields | undefined {
  const details = usageDetails(tokens ?? {});
  const rest: RareSpanFields = {
    ...(Object.keys(details).length > 0 && { u: details }),
    ...(attempts !== 1 && { a: attempts }),
    ...(failed.length > 0 && {
      f: failed.map(({ attempt, start: from, end, error: type, next }, index) => {
        const stored = [from - start, end - from, type] as const;
        if (next === undefined) return stored;
        const wait = next - end;
        const number = attempt ?? index + 1;
        return number === index + 1 ? [...stored, wait] : [...stored, wait, number];
      }),
    }),
    ...(error !== null && { e: error }),
    ...(note !== undefined && { n: note }),
    ...(thought !== undefined && { t: thought }),
    ...(recovered && { r: 1 as const }),
    ...(discarded && { d: 1 as const }),
  };
  return Object.keys(rest).length === 0 ? undefined : rest;
}

/** An attempt at a step that failed. Times are epoch milliseconds. */
export interface FailedAttempt {
  /** From 1. Missing where an earlier version recorded all of them. */
  attempt?: number;
  start: number;
  end: number;
  error: string;
  /** When the next attempt began or, until then, begins. Missing where an earlier version recorded the attempt. */
  next?: number;
  /** The message of the error. Spans are stored and shown without it and the text. */
  message?: string;
  /** The part of a streamed answer that had arrived. */
  text?: string;
}

/**
 * The trace data of an agent, a step or a wait; spans are made of it when they are shown or sent. Times are epoch
 * milliseconds.
 */
export interface TurnSpan {
  /** `tool`: also one that runs agents. `effect`: a step that calls neither a model nor a tool. */
  kind: "agent" | "model" | "tool" | "effect" | "wait";
  /** The path of the scope or step below the turn; a wait has its scope's path and the beginning of the question's id. */
  path: string;
  start: number;
  /** Null while it is in progress. */
  end: number | null;
  /** The name of the agent, the tool or the model; for a wait, who asks. */
  name: string | null;
  provider: string | null;
  /** Attempts at the step, those that failed included. */
  attempts: number;
  failed: readonly FailedAttempt[];
  tokens: TokenUsage | null;
  error: string | null;
  /** Parts that the client left out of the request to a model. */
  note?: string;
  /** Milliseconds for which a model streamed its reasoning. */
  thought?: number;
  recovered: boolean;
  /** True if its recorded result was given up, so that the step ran again. */
  discarded: boolean;
}

/** The spans of a turn, and how many were dropped because of the limit. */
export interface TurnSpans {
  spans: readonly TurnSpan[];
  dropped: number;
}

export const NO_SPANS: TurnSpans = { spans: [], dropped: 0 };

/** The most spans of one turn; a turn may have any number of steps. */
export const MOST_SPANS = 100;

/** True if `path` is inside the scope `scope`; every path is inside the turn's own scope. */
export function isInside(path: string, scope: string): boolean {
  return scope === "" || path.startsWith(`${scope}/`);
}
