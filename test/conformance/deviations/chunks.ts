import { type Json } from "troupe";
import { isJsonObject } from "#core/json.ts";
import { type Step, textOf } from "../trace.ts";
import { isChunk, isResult, isString } from "./place.ts";

/** Deviation `chunks`: pieces of an inner agent's text stay in AutoGen's results and states. Leaves them out. */
export function withoutChunks(step: Step): Step {
  const events = step["events"];
  if (Array.isArray(events)) {
    const ids = new Set(events.filter(isChunk).map((event) => textOf(event["id"])));
    return {
      ...step,
      events: events.map((event) => (isResult(event) ? clean(event, ids) : event)),
    };
  }
  return "state" in step ? { ...step, state: clean(step["state"] ?? null, new Set()) } : step;
}

function clean(value: Json, chunks: ReadonlySet<string>): Json {
  if (Array.isArray(value)) {
    return value
      .filter((item) => !isChunk(item) && !(isString(item) && chunks.has(item)))
      .map((item) => clean(item, chunks));
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, clean(item, chunks)]));
}
