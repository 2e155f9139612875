import { type Json, parseJson } from "./json.ts";

const INTEGER = /^[+-]?\d+$/;
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
const TRUE = new Set(["true", "t", "yes", "y", "on", "1"]);
const FALSE = new Set(["false", "f", "no", "n", "off", "0"]);

/**
 * Converts a text or number into the number or boolean that is expected (`int`, `integer`, `number`, `boolean`), as
 * AutoGen does: `"7"`, `"true"`, `1`. Any other value is returned unchanged.
 */
export function coerce(value: Json, expected: string): Json {
  switch (expected) {
    case "int":
    case "integer":
      if (typeof value === "boolean") return Number(value);
      return typeof value === "string" && INTEGER.test(value.trim()) ? numberIn(value) : value;
    case "number":
      if (typeof value === "boolean") return Number(value);
      return typeof value === "string" && NUMBER.test(value.trim()) ? numberIn(value) : value;
    case "boolean":
      return asBoolean(value);
    default:
      return value;
  }
}

/** The number that a text is, also where JavaScript's numbers would change it. */
function numberIn(text: string): Json {
  const digits = text.trim().replace(/^\+/, "");
  return /^-?(0|[1-9]\d*)$/.test(digits) ? parseJson(digits) : Number(text);
}

function asBoolean(value: Json): Json {
  if (value !== 0 && value !== 1 && typeof value !== "string") return value;
  const text = String(value).toLowerCase();
  if (TRUE.has(text)) return true;
  return FALSE.has(text) ? false : value;
}
