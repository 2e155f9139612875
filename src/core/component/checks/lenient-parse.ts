import type * as z from "zod";
import { coerce } from "../../coerce.ts";
import type { Json } from "../../json.ts";

/**
 * Parses a config as AutoGen does: a number or boolean may be written as a text or number (`"7"`, `"true"`, `1`).
 * Configs are written by hand and come from YAML and web forms.
 */
export function lenientParse<T>(schema: z.ZodType<T>, config: unknown): z.ZodSafeParseResult<T> {
  const strict = schema.safeParse(config);
  if (strict.success) return strict;
  let coerced = config as Json;
  for (const issue of strict.error.issues) {
    if (issue.code === "invalid_type") coerced = coerceAt(coerced, issue.path, issue.expected);
  }
  return coerced === config ? strict : schema.safeParse(coerced);
}

/** A copy of `value` with the value at `path` coerced; `value` itself when nothing changes. */
function coerceAt(value: Json, path: readonly PropertyKey[], expected: string): Json {
  const [key, ...rest] = path;
  if (key === undefined) return coerce(value, expected);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const old = value[Number(key)] as Json;
    const coerced = coerceAt(old, rest, expected);
    return coerced === old ? value : value.with(Number(key), coerced);
  }
  const old = value[String(key)];
  if (old === undefined) return value;
  const coerced = coerceAt(old, rest, expected);
  return coerced === old ? value : { ...value, [key]: coerced };
}
