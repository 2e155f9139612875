import { isExactNumber, isInteger, type Json, sortedJson } from "../json.ts";
import { isTooDeep } from "../json-schema/pattern/work-limit.ts";

/** Digits of the longest number that is compared. */
const MOST_DIGITS = 1_000;

type JsonType = "null" | "boolean" | "number" | "text" | "list" | "object";

/** The sign of `value - bound`; undefined for a value that is not a number, or whose difference cannot be known. */
export function order(value: Json | undefined, bound: number): -1 | 0 | 1 | undefined {
  const whole = wholeOf(value);
  if (whole !== undefined && Number.isSafeInteger(bound)) return signOf(whole, BigInt(bound));
  const number = isExactNumber(value) ? Number(value.rawJSON) : value;
  if (typeof number !== "number" || Number.isNaN(number)) return undefined;
  return signOf(number, bound);
}

/** True for equal values, false for other values of the same type, undefined for those of another type. */
export function equal(value: Json | undefined, wanted: Json): boolean | undefined {
  const type = typeOf(value);
  if (type === undefined || type !== typeOf(wanted)) return undefined;
  if (isTooDeep(value) || isTooDeep(wanted)) return undefined;
  return sortedJson(value) === sortedJson(wanted);
}

/** Undefined for what is missing, and for NaN, which is equal to nothing. */
function typeOf(value: Json | undefined): JsonType | undefined {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  if (isExactNumber(value)) return "number";
  switch (typeof value) {
    case "boolean":
      return "boolean";
    case "string":
      return "text";
    case "object":
      return "object";
    case "number":
      return Number.isNaN(value) ? undefined : "number";
    default:
      return undefined;
  }
}

/** A number that JavaScript's numbers would change, or do not change, as the integer that it is. */
function wholeOf(value: Json | undefined): bigint | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  if (!isExactNumber(value)) return undefined;
  const { rawJSON } = value;
  return isInteger(rawJSON) && rawJSON.length <= MOST_DIGITS ? BigInt(rawJSON) : undefined;
}

function signOf<T extends number | bigint>(value: T, bound: T): -1 | 0 | 1 {
  if (value === bound) return 0;
  return value > bound ? 1 : -1;
}
