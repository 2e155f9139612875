import { isJsonObject } from "../../../../core/json.ts";

/** What is below them is the client's own. */
const OPEN: ReadonlySet<string> = new Set(["metadata", "data"]);

/**
 * JSON of a client with the names of fields in camel case: ProtoJSON has the names of the .proto file, in snake case, beside
 * them.
 */
export function withCamelKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withCamelKeys);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => [
    camelKey(key),
    OPEN.has(key) ? inner : withCamelKeys(inner),
  ]);
  return Object.fromEntries(entries);
}

/** `contextId` of `context_id`. */
export function camelKey(key: string): string {
  return key.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
