import { isDeepStrictEqual } from "node:util";
import type { TraceEvent } from "./trace.ts";

/** Events that differ between frameworks: steps, subagents, activities, raw events, state, and repeated conversations. */
const OWN = new Set([
  "STEP_STARTED",
  "STEP_FINISHED",
  "SUBAGENT_STARTED",
  "SUBAGENT_FINISHED",
  "SUBAGENT_ERROR",
  "ACTIVITY_SNAPSHOT",
  "ACTIVITY_DELTA",
  "RAW",
  "CUSTOM",
  "STATE_SNAPSHOT",
  "STATE_DELTA",
  "MESSAGES_SNAPSHOT",
]);

/** Fields that are not compared: those that a framework adds, ids that no other event has, and the name of the model. */
const LEFT_OUT = new Set([
  "model",
  "rawEvent",
  "timestamp",
  "input",
  "parentMessageId",
  "responseSchema",
]);

/** The ids of a run's events, by those of another. */
export type Ids = Map<string, string>;

/**
 * Compares the events of a run with those of a trace: the same types in the same order, with every field that the trace has. Deltas
 * of one text are one, and the ids of the trace stand for those that the run has in their place.
 *
 * @param ids takes the run's ids by the trace's
 * @returns what differs first; undefined if nothing does
 */
export function difference(
  expected: readonly TraceEvent[],
  actual: readonly TraceEvent[],
  ids: Ids,
): string | undefined {
  const wanted = essence(expected);
  const seen = essence(actual);
  for (const [place, id] of idsIn(wanted))
    if (!ids.has(id)) ids.set(id, idsIn(seen).get(place) ?? "");
  for (const [index, event] of wanted.entries()) {
    const other = seen[index];
    if (!isContained(event, other, ids)) {
      return `event ${index + 1} should be ${JSON.stringify(event)}, and is ${JSON.stringify(other)}`;
    }
  }
  const more = seen[wanted.length];
  return more && `after the trace's end there is ${JSON.stringify(more)}`;
}

function essence(events: readonly TraceEvent[]): TraceEvent[] {
  const kept: TraceEvent[] = [];
  for (const event of events) {
    if (OWN.has(event.type)) continue;
    const last = kept.at(-1);
    if (last?.type === event.type && "delta" in event)
      last["delta"] = [last["delta"], event["delta"]].join("");
    else kept.push(withoutOwn(event));
  }
  return kept;
}

function withoutOwn(event: TraceEvent): TraceEvent {
  const fields = Object.entries(event).filter(([name]) => !LEFT_OUT.has(name));
  const own: TraceEvent = { ...Object.fromEntries(fields), type: event.type };
  // A result is a message of its own, whose id no other event has.
  if (event.type === "TOOL_CALL_RESULT") delete own["messageId"];
  // LangGraph ends a run with the id of its own.
  if (event.type === "RUN_FINISHED") delete own["runId"];
  return own;
}

/** Whether all of the first is in the second. */
function isContained(expected: unknown, actual: unknown, ids: Ids, name = ""): boolean {
  if (Array.isArray(expected)) {
    return (
      Array.isArray(actual) &&
      actual.length === expected.length &&
      expected.every((item, index) => isContained(item, actual[index], ids))
    );
  }
  if (typeof expected === "object" && expected !== null) {
    return (
      typeof actual === "object" &&
      actual !== null &&
      Object.entries(expected)
        .filter(([key]) => !LEFT_OUT.has(key))
        .every(([key, value]) => isContained(value, Reflect.get(actual, key), ids, key))
    );
  }
  // A count of nothing is left out.
  if (expected === 0) return actual === 0 || actual === undefined;
  if (typeof expected !== "string" || typeof actual !== "string") return expected === actual;
  if (/^id$|Id$/.test(name)) return (ids.get(expected) ?? expected) === actual;
  return expected === actual || isDeepStrictEqual(asJson(expected), asJson(actual));
}

/** The ids of messages, tool calls and interrupts, by what they are the id of and how often there was one before. */
function idsIn(events: readonly TraceEvent[]): Map<string, string> {
  const places = new Map<string, string>();
  const count: Record<string, number> = {};
  const add = (what: string, id: unknown): void => {
    const place = (count[what] ?? 0) + 1;
    count[what] = place;
    places.set(`${what} ${place}`, String(id));
  };
  for (const { type, messageId, toolCallId, outcome } of events) {
    if (type.endsWith("MESSAGE_START")) add(type, messageId);
    if (type === "TOOL_CALL_START") add(type, toolCallId);
    const { interrupts = [] } = (outcome ?? {}) as { interrupts?: { id: string }[] };
    for (const { id } of interrupts) add("interrupt", id);
  }
  return places;
}

/** A text parsed as JSON, if it is JSON: frameworks write arguments and results of tools in different forms. */
function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
