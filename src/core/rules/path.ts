import type { Json } from "../json.ts";
import { isJsonObject } from "../json.ts";

/** The most characters of a path. */
export const LONGEST_PATH = 500;

const MOST_KEYS = 20;

/** A key after a dot or at the beginning, an index, or a key as JSON text in brackets. */
const PART = /(^|\.)([^.[\]"\s]+)|\[(\d{1,9})\]|\[("(?:[^"\\]|\\[^])*")\]/y;

/**
 * The keys of a path such as `order.items[0].price`. A key with a dot, a bracket, a quote or white space is written as JSON
 * text in brackets: `order["net.total"]`. Undefined for a text that is not a path.
 */
export function keysOfPath(path: string): string[] | undefined {
  if (path.length > LONGEST_PATH) return undefined;
  const keys: string[] = [];
  PART.lastIndex = 0;
  while (PART.lastIndex < path.length) {
    const match = PART.exec(path);
    const key = match ? (match[2] ?? match[3] ?? textOf(match[4] ?? "")) : undefined;
    if (key === undefined || keys.length === MOST_KEYS) return undefined;
    keys.push(key);
  }
  return keys.length === 0 ? undefined : keys;
}

/** The value at a path: own fields of objects and items of lists only. Undefined where there is none. */
export function valueAt(root: Json, keys: readonly string[]): Json | undefined {
  let value: Json | undefined = root;
  for (const key of keys) {
    if (Array.isArray(value)) value = /^(?:0|[1-9]\d*)$/.test(key) ? value[Number(key)] : undefined;
    else value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    if (value === undefined) return undefined;
  }
  return value;
}

function textOf(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return undefined;
  }
}
