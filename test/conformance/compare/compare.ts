import { type Json, type JsonObject } from "troupe";
import { isJsonObject } from "#core/json.ts";
import { type IdMap, isIdOf } from "./ids.ts";
import { sameText } from "./texts.ts";

/** The first place where two values differ, shown short. */
export interface Difference {
  path: string;
  expected: string;
  actual: string;
}

export interface CompareOptions {
  /** Without it ids are not compared. */
  ids?: IdMap;
  /** Whether a text that differs differs on purpose. */
  tolerateText?: (expected: string, actual: string) => boolean;
  /** Keys that are not compared. */
  ignore?: ReadonlySet<string>;
  /** Whether what stands at a path may differ in any way. */
  excuses?: (path: string) => boolean;
}

/**
 * Compares as the traces want it: order of keys free, numbers by value, times left out, ids through the map, texts
 * with Python's error messages up to where they begin.
 */
export function difference(
  expected: Json | undefined,
  actual: Json | undefined,
  options: CompareOptions,
  path = "",
): Difference | undefined {
  if (options.excuses?.(path)) return undefined;
  if (Array.isArray(expected) && Array.isArray(actual))
    return lists(expected, actual, options, path);
  if (isJsonObject(expected) && isJsonObject(actual))
    return objects(expected, actual, options, path);
  if (typeof expected === "string" && typeof actual === "string") {
    const same = sameText(expected, actual) || options.tolerateText?.(expected, actual);
    return same ? undefined : differ(path, expected, actual);
  }
  return expected === actual ? undefined : differ(path, expected, actual);
}

export function differ(path: string, expected: unknown, actual: unknown): Difference {
  const [shownExpected, shownActual] = around(expected, actual);
  return { path, expected: shownExpected, actual: shownActual };
}

function lists(
  expected: Json[],
  actual: Json[],
  options: CompareOptions,
  path: string,
): Difference | undefined {
  const length = Math.max(expected.length, actual.length);
  for (let index = 0; index < length; index++) {
    const found = difference(expected[index], actual[index], options, `${path}[${index}]`);
    if (found) return found;
  }
  return undefined;
}

function objects(
  expected: JsonObject,
  actual: JsonObject,
  options: CompareOptions,
  path: string,
): Difference | undefined {
  const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  for (const key of keys) {
    if (options.ignore?.has(key) || (key === "created_at" && !("created_at" in expected))) continue;
    const found = member(expected, actual, key, options, path === "" ? key : `${path}.${key}`);
    if (found) return found;
  }
  return undefined;
}

function member(
  expected: JsonObject,
  actual: JsonObject,
  key: string,
  options: CompareOptions,
  path: string,
): Difference | undefined {
  const [left, right] = [expected[key], actual[key]];
  if (options.excuses?.(path)) return undefined;
  if (isIdOf(expected, key) && typeof left === "string" && typeof right === "string") {
    if (options.ids === undefined || options.ids.agree(left, right)) return undefined;
    return differ(path, left, right);
  }
  return difference(left, right, options, path);
}

const SHOWN = 90;

/** Both values as JSON, long ones cut to where they begin to differ. */
function around(expected: unknown, actual: unknown): [string, string] {
  const left = show(expected);
  const right = show(actual);
  if (left.length <= SHOWN && right.length <= SHOWN) return [left, right];
  let start = 0;
  while (start < left.length && left[start] === right[start]) start++;
  const from = Math.max(0, start - 20);
  return [cut(left, from), cut(right, from)];
}

function cut(text: string, from: number): string {
  const end = from + SHOWN;
  return `${from > 0 ? "…" : ""}${text.slice(from, end)}${text.length > end ? "…" : ""}`;
}

function show(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value);
}
