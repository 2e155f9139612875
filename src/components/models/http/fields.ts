import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import { beginningOf } from "../../../core/cut.ts";
import { ModelError } from "../../../core/models/model-error.ts";

/** The longest part of an answer that an error quotes. */
const LONGEST_QUOTE = 200;

/** A piece of an answer as an error quotes it. */
export function quoted(piece: unknown): string {
  const text = typeof piece === "string" ? piece : (JSON.stringify(piece) ?? String(piece));
  return text.length <= LONGEST_QUOTE ? text : `${beginningOf(text, LONGEST_QUOTE)}...`;
}

/** The error for a part of an answer that has no meaning. Another attempt may get a better answer. */
export function unreadable(what: string, piece: unknown): ModelError {
  return new ModelError("bad_response", `The model server sent ${what}: ${quoted(piece)}`);
}

/**
 * An object in an answer; undefined where it is missing or null.
 *
 * @throws ModelError `bad_response` for another value
 */
export function objectIn(value: Json | undefined, field: string): JsonObject | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isJsonObject(value)) throw unreadable(`a "${field}" that is not an object`, value);
  return value;
}

/**
 * The objects of a list in an answer. Nulls in it are skipped, and an object alone is a list of one.
 *
 * @throws ModelError `bad_response` for another value
 */
export function objectsIn(value: Json | undefined, field: string): JsonObject[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value))
    return value.flatMap((item): JsonObject[] => {
      const object = objectIn(item, field);
      return object === undefined ? [] : [object];
    });
  if (isJsonObject(value)) return [value];
  throw unreadable(`"${field}" that are not a list`, value);
}

/**
 * A text without which an answer would be incomplete; empty where it is missing or null.
 *
 * @throws ModelError `bad_response` for another value
 */
export function textIn(value: Json | undefined, field: string): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string") throw unreadable(`a "${field}" that is not a text`, value);
  return value;
}

/** A name or an id, which some servers send as a number; undefined where it is missing, empty or something else. */
export function nameIn(value: Json | undefined): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/**
 * The type of an event or of a part, by which it is read; undefined where it is missing or null.
 *
 * @throws ModelError `bad_response` for another value
 */
export function typeIn(value: JsonObject): string | undefined {
  return textIn(value["type"], "type") || undefined;
}

/** A count, which some servers send as a text; undefined where it is missing or something else. */
export function countIn(value: Json | undefined): number | undefined {
  const count = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(count) && Number(count) >= 0 ? Number(count) : undefined;
}

/** An object that an answer can do without; undefined where there is none. */
export function optionalObject(value: Json | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}
