import type { TraceSpan } from "../../contract/team/trace.ts";
import type { RunError, RunStatus } from "../../contract/run.ts";
import { NO_DETAILS, type Span } from "./span.ts";
import { spanIds } from "./span-ids.ts";
import { enclosing, isInside, type TurnSpan, type TurnSpans } from "./stored-spans.ts";

/** A restart of a run. Times are epoch milliseconds. */
export interface Recovery {
  /** The number of the turn in the team's life. */
  turn: number;
  /** When the last record before the interruption was written. */
  since: number;
  at: number;
}

/** The data of the spans around a run's turns. Times are epoch milliseconds. */
export interface TracedRun {
  id: string;
  status: RunStatus;
  error: Partial<Pick<RunError, "type" | "agent" | "step">> | null;
  created: number;
  /** Null while it is queued, or if it was cancelled then. */
  started: number | null;
  ended: number | null;
  recoveries: readonly Recovery[];
}

/** The data of the spans of a turn. Times are epoch milliseconds. */
export interface TracedTurn extends TurnSpans {
  /** The number of the turn in the run; 0 takes the task. */
  number: number;
  /** The number of the turn in the team's life. */
  turn: number;
  start: number;
  /** Null while it is in progress. */
  end: number | null;
  /** Why the turn was given up, if it was. */
  error: TracedRun["error"];
}

const OPERATIONS: Record<TurnSpan["kind"], TraceSpan["kind"]> = {
  agent: "invoke_agent",
  model: "chat",
  tool: "execute_tool",
  effect: "step",
  wait: "wait",
};

export function runSpan({ id, status, error, created, ended }: TracedRun): Span {
  const failure = status === "failed" ? (error?.type ?? "run_failed") : null;
  return {
    ...NO_DETAILS,
    id: spanIds.run(id),
    parent: null,
    kind: "run",
    name: "run",
    start: created,
    end: ended,
    error: status === "cancelled" ? "cancelled" : failure,
  };
}

/** The time in the queue, if there was one. */
export function queueSpans({ id, status, created, started, ended }: TracedRun): Span[] {
  const end = started ?? ended;
  if (end === created || (end === null && status !== "queued")) return [];
  const span = { id: spanIds.queue(id), parent: spanIds.run(id), start: created, end };
  const error = started === null && ended !== null ? "cancelled" : null;
  return [{ ...NO_DETAILS, ...span, kind: "queue", name: "queue", error }];
}

export function recoverySpans({ id, recoveries }: TracedRun): Span[] {
  return recoveries.map(({ turn, since, at }) => ({
    ...NO_DETAILS,
    id: spanIds.recovery(id, at),
    parent: spanIds.run(id),
    kind: "recovery",
    name: "recovery",
    start: Math.min(since, at),
    end: at,
    turn,
  }));
}

/** The turn, its agents and steps, and the attempts at those that failed. Parents come first. */
export function turnSpans(run: string, turn: TracedTurn): Span[] {
  const { number, spans: records, error } = turn;
  const own: Span = {
    ...NO_DETAILS,
    id: spanIds.turn(run, number),
    parent: spanIds.run(run),
    kind: "turn",
    name: "turn",
    start: turn.start,
    end: turn.end,
    turn: turn.turn,
    error: error === null ? null : (error.type ?? "run_failed"),
  };
  const spans = [own];
  for (const record of records) {
    const id = idOf(run, number, record);
    const around = records[enclosing(record, records) - 1];
    const agent = agentOf(record, records);
    const parent = around ? idOf(run, number, around) : own.id;
    const failed = record.error ?? (isFailed(record, error) ? own.error : null);
    const span = {
      ...NO_DETAILS,
      id,
      parent,
      kind: OPERATIONS[record.kind],
      name: nameOf(record),
      start: record.start,
      end: record.end,
      turn: turn.turn,
      path: record.path,
      error: failed,
      recovered: record.recovered,
      discarded: record.discarded,
      agent: record.kind === "wait" ? record.name : agent,
    };
    if (record.kind === "agent" || record.kind === "wait") {
      spans.push(span);
      continue;
    }
    spans.push({
      ...span,
      attempts: record.attempts,
      tool: record.kind === "tool" ? record.name : null,
      model: record.kind === "model" ? record.name : null,
      provider: record.provider,
      tokens: record.tokens,
      ...(record.note !== undefined && { note: record.note }),
    });
    const place = { ...NO_DETAILS, parent: id, turn: turn.turn, path: record.path, agent };
    spans.push(...attemptSpans(run, number, record, { place, error: failed }));
  }
  return spans;
}

/** The attempts at a step that was tried again, and the waits between them. @param error why the step failed */
function attemptSpans(
  run: string,
  turn: number,
  record: TurnSpan,
  {
    place,
    error,
  }: { place: Omit<Span, "id" | "kind" | "name" | "start" | "end">; error: string | null },
): Span[] {
  const { failed, attempts, end: stepEnd } = record;
  const key = keyOf(record);
  const attempt = (number: number) =>
    ({
      ...place,
      id: spanIds.attempt(run, turn, key, number),
      kind: "attempt",
      name: `attempt ${number}`,
    }) as const;
  const failedLast = failed.at(-1)?.attempt === attempts;
  const spans: Span[] = [];
  for (const [index, { start, end, error: why, next, ...one }] of failed.entries()) {
    const number = one.attempt ?? index + 1;
    const isLast = index === failed.length - 1;
    spans.push({ ...attempt(number), start, end, error: why });
    if (next === undefined) continue;
    // The run waits for the next attempt, or has ended while it did.
    const isOpen = isLast && failedLast;
    if (next > end || isOpen) {
      spans.push({
        ...place,
        id: spanIds.backoff(run, turn, key, number),
        kind: "backoff",
        name: "backoff",
        start: end,
        end: isOpen ? stepEnd : next,
        error: isOpen && stepEnd !== null ? "cancelled" : null,
      });
    }
    if (isLast && !failedLast) {
      spans.push({ ...attempt(attempts), start: next, end: stepEnd, error });
    }
  }
  return spans;
}

function idOf(run: string, turn: number, record: TurnSpan): string {
  return spanIds.inTurn(run, turn, keyOf(record));
}

/** The part of a span's id that distinguishes it from the others of its turn. */
function keyOf({ kind, path, discarded, start }: TurnSpan): string {
  // A question has an id of its own; where it was asked is not stored with it.
  if (kind === "wait") return path.slice(path.lastIndexOf("/") + 1);
  // The step that ran again has the path, too.
  return discarded ? `${path}~${start}` : path;
}

function nameOf({ kind, name, path }: TurnSpan): string {
  const named = name ?? path.slice(path.lastIndexOf("/") + 1);
  switch (kind) {
    case "agent":
      return `invoke_agent ${named}`;
    case "model":
      return name === null ? "chat" : `chat ${name}`;
    case "tool":
      return `execute_tool ${named}`;
    case "effect":
      return named;
    case "wait":
      return "wait";
  }
}

/** The innermost agent that the span is or belongs to. */
function agentOf(record: TurnSpan, records: readonly TurnSpan[]): string | null {
  for (let span: TurnSpan | undefined = record; span;) {
    if (span.kind === "agent") return span.name;
    span = records[enclosing(span, records) - 1];
  }
  return null;
}

/** True if the turn's failure came out of this agent. */
function isFailed({ kind, path, name }: TurnSpan, error: TracedTurn["error"]): boolean {
  if (kind !== "agent" || error === null) return false;
  return error.step == null ? error.agent === name : isInside(error.step, path);
}
