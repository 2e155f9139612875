import type * as z from "zod";
import { ease } from "../ease.ts";
import type { Json } from "../json.ts";

/**
 * Checks a config as AutoGen does: where a number or boolean is wanted, a text or number that says one will do
 * (`"7"`, `"true"`, `1`). Configs are written by hand and come from YAML and web forms.
 */
export function lenientParse<T>(schema: z.ZodType<T>, config: unknown): z.ZodSafeParseResult<T> {
  const strict = schema.safeParse(config);
  if (strict.success) return strict;
  let eased = config as Json;
  for (const issue of strict.error.issues) {
    if (issue.code === "invalid_type") eased = easeAt(eased, issue.path, issue.expected);
  }
  return eased === config ? strict : schema.safeParse(eased);
}

/** A copy of `value` in which what stands at `path` is of the expected type, if it says such a value. */
function easeAt(value: Json, path: readonly PropertyKey[], expected: string): Json {
  const [key, ...rest] = path;
  if (key === undefined) return ease(value, expected);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const old = value[Number(key)] as Json;
    const eased = easeAt(old, rest, expected);
    return eased === old ? value : value.with(Number(key), eased);
  }
  const old = value[String(key)];
  if (old === undefined) return value;
  const eased = easeAt(old, rest, expected);
  return eased === old ? value : { ...value, [key]: eased };
}
