import { isJsonObject } from "../../../../core/json.ts";

const DATA = "data";
/** Members whose contents belong to the client. */
const OPEN: ReadonlySet<string> = new Set(["metadata", DATA]);

/**
 * JSON of a client in one form: ProtoJSON has the names of the .proto file, in snake case, beside those in camel case, and null
 * for fields that are left out.
 */
export function normalJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normalJson);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value)
    // The data of a part may be null.
    .filter(([key, inner]) => inner !== null || key === DATA)
    .map(([key, inner]) => [camelKey(key), OPEN.has(key) ? inner : normalJson(inner)]);
  return Object.fromEntries(entries);
}

/** `contextId` of `context_id`. */
export function camelKey(key: string): string {
  return key.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
