import type { TraceSpan } from "troupe/client";

/** A span with the spans inside it. Times are epoch milliseconds. */
export interface TimelineStep {
  span: TraceSpan;
  start: number;
  /** Null while it is active. */
  end: number | null;
  /** Oldest first. */
  inner: readonly TimelineStep[];
  parent: TimelineStep | undefined;
  /** The usage of its model calls, including those inside it. */
  tokens: number;
  cost: number | null;
  /** True if a step inside it failed, even if it succeeded itself. */
  troubled: boolean;
  /** The steps that took its time: model calls, tools, waits. */
  leaves: readonly TimelineStep[];
}

export interface RunTimeline {
  /** The run itself; undefined until it is loaded. */
  run: TimelineStep | undefined;
  /** Turns, and the spans around them. */
  all: readonly TimelineStep[];
  byId: ReadonlyMap<string, TimelineStep>;
  /** The periods with work, not waits, merged and in order. Active ones end at infinity. */
  busy: readonly Interval[];
}

export interface Interval {
  from: number;
  to: number;
}

type Building = TimelineStep & { inner: TimelineStep[]; leaves: TimelineStep[] };

/** The spans of a trace as trees. Parents come before their children. */
export function stepsOf(spans: readonly TraceSpan[]): RunTimeline {
  const byId = new Map<string, Building>();
  let run: Building | undefined;
  for (const span of spans) {
    const parent = span.parent_span_id === null ? undefined : byId.get(span.parent_span_id);
    const step = newStep(span, parent);
    byId.set(span.span_id, step);
    parent?.inner.push(step);
    if (span.kind === "run") run = step;
  }
  const steps = [...byId.values()];
  for (const step of steps.toReversed()) addUp(step);
  for (const step of steps) {
    step.inner.sort(byTime);
    if (isLeaf(step)) turnOf(step.parent)?.leaves.push(step);
  }
  return { run, all: run?.inner ?? [], byId, busy: merged(steps.filter(isWork)) };
}

function newStep(span: TraceSpan, parent: TimelineStep | undefined): Building {
  const { usage, cost } = span;
  return {
    span,
    start: Date.parse(span.started_at),
    end: span.ended_at === null ? null : Date.parse(span.ended_at),
    inner: [],
    parent,
    tokens: usage === null ? 0 : usage.prompt_tokens + usage.completion_tokens,
    cost,
    troubled: span.status === "error",
    leaves: [],
  };
}

/** Spans that began in the same millisecond are sorted by their end. */
function byTime(a: TimelineStep, b: TimelineStep): number {
  return a.start - b.start || (a.end ?? Number.MAX_VALUE) - (b.end ?? Number.MAX_VALUE);
}

/** Adds its usage to its parents. */
function addUp({ parent, tokens, cost, troubled }: TimelineStep): void {
  if (parent === undefined) return;
  parent.tokens += tokens;
  if (cost !== null) parent.cost = (parent.cost ?? 0) + cost;
  parent.troubled ||= troubled;
}

function turnOf(step: TimelineStep | undefined): Building | undefined {
  let found = step;
  while (found !== undefined && found.span.kind !== "turn") found = found.parent;
  return found as Building | undefined;
}

/** True if it took time itself, not only the steps inside it. */
function isLeaf({ span, inner }: TimelineStep): boolean {
  if (span.kind === "wait") return true;
  if (span.kind === "chat" || span.kind === "step") return true;
  return span.kind === "execute_tool" && inner.every((step) => isOfAttempts(step));
}

function isOfAttempts({ span }: TimelineStep): boolean {
  return span.kind === "attempt" || span.kind === "backoff";
}

/** True if something was done all the time: a step that waited has attempts instead. */
function isWork(step: TimelineStep): boolean {
  const { span, parent } = step;
  if (span.kind === "attempt") return parent !== undefined && backoffsIn(parent).length > 0;
  return span.kind !== "wait" && isLeaf(step) && backoffsIn(step).length === 0;
}

/** The waits between the attempts at a step. */
export function backoffsIn({ inner }: TimelineStep): readonly TimelineStep[] {
  return inner.filter(({ span }) => span.kind === "backoff");
}

function merged(steps: readonly TimelineStep[]): Interval[] {
  const sorted = steps.toSorted((a, b) => a.start - b.start);
  const intervals: Interval[] = [];
  for (const { start, end } of sorted) {
    const to = end ?? Infinity;
    const last = intervals.at(-1);
    if (last === undefined || start > last.to) intervals.push({ from: start, to });
    else last.to = Math.max(last.to, to);
  }
  return intervals;
}
