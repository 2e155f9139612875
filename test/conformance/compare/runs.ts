import { type Json, type JsonObject } from "troupe";
import { isJsonObject } from "#core/json.ts";
import { textOf } from "../trace.ts";
import { type CompareOptions, differ, type Difference, difference } from "./compare.ts";

/** The events of a run, in the order in which they came. */
export function compareEvents(
  expected: readonly Json[],
  actual: readonly Json[],
  options: CompareOptions,
): Difference | undefined {
  const length = Math.max(expected.length, actual.length);
  for (let index = 0; index < length; index++) {
    const [left, right] = [expected[index], actual[index]];
    const path = `events[${index}]`;
    const found =
      isResult(left) && isResult(right)
        ? compareResults(left, right, { expected, actual }, options, path)
        : difference(left, right, options, path);
    if (found) return found;
  }
  return undefined;
}

interface Streams {
  expected: readonly Json[];
  actual: readonly Json[];
}

/** A message of a result stands there as its id when it is one of the stream's, otherwise as a whole. */
function compareResults(
  expected: JsonObject,
  actual: JsonObject,
  streams: Streams,
  options: CompareOptions,
  path: string,
): Difference | undefined {
  const inStream = byId(streams.actual);
  const shown = messagesOf(actual).map((message, index): Json => {
    const wanted = messagesOf(expected)[index];
    const id = idOf(message);
    if (typeof wanted !== "string" || id === undefined) return message;
    const found = difference(inStream.get(id), message, {});
    return found === undefined ? { id } : message;
  });
  const wanted = messagesOf(expected).map((item): Json =>
    typeof item === "string" ? { id: item } : item,
  );
  return difference(
    { ...expected, messages: wanted },
    { ...actual, messages: shown },
    options,
    path,
  );
}

/**
 * Agents that run side by side: of each source the sequence of events must be equal; what the result holds may stand
 * in any order.
 */
export function compareBySource(
  expected: readonly Json[],
  actual: readonly Json[],
  options: CompareOptions,
): Difference | undefined {
  const unordered = { ...options, ids: undefined };
  const [left, right] = [sources(expected), sources(actual)];
  for (const source of new Set([...left.keys(), ...right.keys()])) {
    const found = difference(
      left.get(source) ?? [],
      right.get(source) ?? [],
      unordered,
      `events of ${source}`,
    );
    if (found) return found;
  }
  const [wanted, given] = [expected.find(isResult), actual.find(isResult)];
  if (wanted === undefined || given === undefined) {
    return wanted === given ? undefined : differ("events", wanted, given);
  }
  return (
    difference({ stop_reason: reasonOf(wanted) }, { stop_reason: reasonOf(given) }, unordered) ??
    compareMultisets(
      resolved(wanted, expected),
      resolved(given, actual),
      unordered,
      "result.messages",
    )
  );
}

/** Whether both lists have the same items, in any order. */
export function compareMultisets(
  expected: readonly Json[],
  actual: readonly Json[],
  options: CompareOptions,
  path: string,
): Difference | undefined {
  if (options.excuses?.(path)) return undefined;
  const left = [...actual];
  for (const item of expected) {
    const index = left.findIndex((other) => difference(item, other, options) === undefined);
    if (index < 0) return differ(path, item, left.length === 1 ? left[0] : left);
    left.splice(index, 1);
  }
  return left.length === 0 ? undefined : differ(path, [], left);
}

function sources(events: readonly Json[]): Map<string, Json[]> {
  const grouped = new Map<string, Json[]>();
  for (const event of events) {
    if (!isJsonObject(event) || isResult(event)) continue;
    const source = textOf(event["source"]);
    grouped.set(source, [...(grouped.get(source) ?? []), event]);
  }
  return grouped;
}

/** The messages of a result, ids replaced by the messages of the stream. */
function resolved(result: JsonObject, events: readonly Json[]): Json[] {
  const inStream = byId(events);
  return messagesOf(result).map((item) =>
    typeof item === "string" ? (inStream.get(item) ?? item) : item,
  );
}

function byId(events: readonly Json[]): Map<string, Json> {
  return new Map(
    events.flatMap((event) => (idOf(event) === undefined ? [] : [[idOf(event) as string, event]])),
  );
}

function idOf(message: Json): string | undefined {
  return isJsonObject(message) && typeof message["id"] === "string" ? message["id"] : undefined;
}

function messagesOf(result: JsonObject): Json[] {
  return Array.isArray(result["messages"]) ? result["messages"] : [];
}

function reasonOf(result: JsonObject): Json {
  return result["stop_reason"] ?? null;
}

function isResult(event: Json | undefined): event is JsonObject {
  return isJsonObject(event) && event["type"] === "TaskResult";
}
