import { fromBase64Url, toBase64Url } from "../../core/base64.ts";
import type { Json } from "../../core/json.ts";
import type { Refused } from "../../contract/result.ts";

/**
 * Cursors are opaque: base64url of JSON that begins with a version, so that a tenant spread over several objects can have
 * one cursor for each.
 */
const VERSION = 1;

const MESSAGE = "must be a next_cursor of an earlier answer";

export function toCursor(...position: (string | number)[]): string {
  return toBase64Url(new TextEncoder().encode(JSON.stringify([VERSION, ...position])));
}

/** The parts of a position, of the kinds that are named. */
type Position<Kinds extends readonly ("string" | "number")[]> = {
  -readonly [Index in keyof Kinds]: Kinds[Index] extends "string" ? string : number;
};

/**
 * Reads the position in a cursor; returns undefined for an invalid cursor.
 *
 * @param kinds the types of the cursor's parts
 */
export function fromCursor<const Kinds extends readonly ("string" | "number")[]>(
  cursor: string,
  kinds: Kinds,
): Position<Kinds> | undefined {
  let value: Json;
  try {
    value = JSON.parse(new TextDecoder().decode(fromBase64Url(cursor))) as Json;
  } catch {
    return undefined;
  }
  if (!Array.isArray(value)) return undefined;
  const [version, ...position] = value;
  if (version !== VERSION || position.length !== kinds.length) return undefined;
  const fits = position.every((part, index) => typeof part === kinds[index]);
  return fits ? (position as Position<Kinds>) : undefined;
}

/** @param parameter the one that has the cursor */
export function invalidCursor(parameter = "cursor"): Refused {
  return {
    ok: false,
    problem: {
      status: 422,
      code: "invalid_cursor",
      detail: `${parameter} ${MESSAGE}.`,
      errors: [{ path: parameter, message: MESSAGE }],
    },
  };
}
