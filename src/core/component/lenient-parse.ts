import type * as z from "zod";
import type { Json } from "../json.ts";

const INTEGER = /^[+-]?\d+$/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const TRUE = new Set(["true", "t", "yes", "y", "on", "1"]);
const FALSE = new Set(["false", "f", "no", "n", "off", "0"]);

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

function ease(value: Json, expected: string): Json {
  switch (expected) {
    case "int":
      if (typeof value === "boolean") return Number(value);
      return typeof value === "string" && INTEGER.test(value.trim()) ? Number(value) : value;
    case "number":
      if (typeof value === "boolean") return Number(value);
      return typeof value === "string" && NUMBER.test(value.trim()) ? Number(value) : value;
    case "boolean":
      return asBoolean(value);
    default:
      return value;
  }
}

function asBoolean(value: Json): Json {
  if (value !== 0 && value !== 1 && typeof value !== "string") return value;
  const text = String(value).toLowerCase();
  if (TRUE.has(text)) return true;
  return FALSE.has(text) ? false : value;
}
