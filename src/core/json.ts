/** Any JSON value. A number that JavaScript would change is an {@link ExactNumber}. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** A JSON object. */
export type JsonObject = { [key: string]: Json };

/**
 * A number of a JSON text that JavaScript's numbers would change, such as 9007199254740993: `JSON.stringify` writes it as it
 * was written. It stays one only inside of an isolate: a structured clone makes an object of it, so what crosses to another
 * one, or is stored, is JSON text that {@link parseJson} reads.
 */
export type ExactNumber = { readonly rawJSON: string };

/** The methods of JSON in newer runtimes. Older browsers lack them: they show values, and give none to tools. */
interface NewerJson {
  parse(
    text: string,
    reviver?: (key: string, value: Json, context?: { source?: string }) => Json,
  ): Json;
  rawJSON?: (this: void, text: string) => ExactNumber;
  isRawJSON?: (this: void, value: unknown) => value is ExactNumber;
}

const json: NewerJson = JSON;
const { rawJSON, isRawJSON } = json;

export function isExactNumber(value: unknown): value is ExactNumber {
  return isRawJSON !== undefined && isRawJSON(value);
}

/** Sixteen digits in a row, or an exponent of three: without these no number can change. */
const MAY_CHANGE = /\d{16}|\d[eE]\+?\d{3}/;

/**
 * Parses JSON. Integers that JavaScript's numbers would change, and numbers beyond their range, become {@link ExactNumber}s;
 * other numbers are JavaScript's, as they are in Python.
 *
 * @throws SyntaxError for a text that is not JSON
 */
export function parseJson(text: string): Json {
  if (rawJSON === undefined || !MAY_CHANGE.test(text)) return json.parse(text);
  return json.parse(text, (_, value, context) => {
    const source = context?.source;
    const isOther = typeof value === "number" && source !== undefined && isChanged(value, source);
    return isOther ? rawJSON(source) : value;
  });
}

/** The value of a text that may be JSON, as {@link parseJson} reads it; undefined if it is not. */
export function parsedJson(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** An object with another value for each number that JavaScript would change. */
export function withNumbers<T>(
  args: JsonObject,
  convert: (number: string) => T,
): { [name: string]: unknown } {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, converted(value, convert)]),
  );
}

function converted(value: Json, convert: (number: string) => unknown): unknown {
  if (isExactNumber(value))
    return isInteger(value.rawJSON) ? convert(value.rawJSON) : value.rawJSON;
  if (Array.isArray(value)) return value.map((item) => converted(item, convert));
  return isJsonObject(value) ? withNumbers(value, convert) : value;
}

/** True if a number is written without a point and an exponent. */
export function isInteger(number: string): boolean {
  return /^-?\d+$/.test(number);
}

/** The value with JavaScript's numbers only, for code that knows no exact ones. The value itself if it has none. */
export function withoutExactNumbers(value: Json): Json {
  return hasExactNumber(value) ? (JSON.parse(JSON.stringify(value)) as Json) : value;
}

function hasExactNumber(value: Json): boolean {
  if (typeof value !== "object" || value === null) return false;
  return isExactNumber(value) || Object.values(value).some(hasExactNumber);
}

function isChanged(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return true;
  return !Number.isSafeInteger(value) && /^-?\d+$/.test(source) && String(value) !== source;
}

/** A JSON value with other texts. The keys of its objects stay. */
export function mapTexts<T>(map: (text: string) => string, value: T): T {
  const mapped = (part: unknown): unknown => {
    if (typeof part === "string") return map(part);
    if (Array.isArray(part)) return part.map(mapped);
    if (!isJsonObject(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, mapped(inner)]));
  };
  return mapped(value) as T;
}

/** The value as JSON, with bigints as the integers that they are. */
export function exactJson(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    typeof item === "bigint" ? (rawJSON?.(String(item)) ?? Number(item)) : item,
  );
}

/** Narrows an unknown value to a plain JSON object (not an array, not null, not an exact number). */
export function isJsonObject(value: unknown): value is JsonObject {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !isExactNumber(value)
  );
}

/**
 * The value after a JSON round trip; the value itself if that changes nothing (no copy is made).
 *
 * @throws TypeError for values that JSON cannot represent (BigInt, cycles)
 */
export function asJson(value: unknown): Json {
  if (isPlain(value)) return value;
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? null : (JSON.parse(text) as Json);
}

/** A text of the value that does not depend on the order of its keys. */
export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isJsonObject(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

function isPlain(value: unknown): value is Json {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0);
    case "object": {
      if (value === null) return true;
      // Not every(), which skips holes.
      if (isExactNumber(value)) return true;
      if (Array.isArray(value)) return value.findIndex((item) => !isPlain(item)) === -1;
      const prototype: unknown = Object.getPrototypeOf(value);
      if (prototype !== Object.prototype && prototype !== null) return false;
      return Object.values(value).every(isPlain);
    }
    default:
      return false;
  }
}
