import { isJsonObject, type Json } from "../../../core/json.ts";
import { retryAfter } from "../../../outgoing/retry-after.ts";

const UNITS: readonly (readonly [pattern: RegExp, milliseconds: number])[] = [
  [/^m(illi)?s(ec(ond)?s?)?$/, 1],
  [/^s(ec(ond)?s?)?$/, 1000],
  [/^m(in(ute)?s?)?$/, 60_000],
  [/^h((ou)?rs?)?$/, 3_600_000],
  [/^d(ays?)?$/, 86_400_000],
];

/** The words before a duration: "Please try again in 1m2.5s", "retry after 12 seconds", "wait 350 ms". */
const BEFORE =
  /\b(?:(?:try again|retry|retrying|resets?|available)(?: again)?(?: your request)? (?:in|after)|wait(?: for)?(?: at least| about)?|retry[-_ ]after:?) /gi;

/** The first number of a duration with its unit, behind what joins it to the one before. */
const PART = /^(?:, |,| and | )?(\d{1,12}(?:\.\d{1,12})?) ?([a-z]{0,12})/;

/** Names of the field in seconds, unless its value has a unit. */
const SECONDS = new Set([
  "retry_after",
  "retryafter",
  "retry-after",
  "retry_after_seconds",
  "retryafterseconds",
  "retry_in",
  "retrydelay",
  "retry_delay",
]);
const MILLISECONDS = new Set([
  "retry_after_ms",
  "retryafterms",
  "retry-after-ms",
  "retry_delay_ms",
]);

const DEEPEST = 6;

/** The longest duration that is read in an error's words. Reading the rest of the text behind each would take quadratic time. */
const LONGEST_DURATION = 100;

/** Milliseconds to wait as a server's headers say; otherwise as the error says. */
export function askedWaitOf(headers: Headers | undefined, inBody: number | undefined) {
  return (headers && retryAfter(headers)) ?? inBody;
}

/**
 * Milliseconds that an error asks to wait: in a field of its own, such as Google's `RetryInfo`, or in its words.
 * @param message its words
 */
export function askedWait(error: unknown, message: string): number | undefined {
  return waitInFields(error, 0) ?? waitInWords(message);
}

function waitInFields(value: unknown, depth: number): number | undefined {
  if (depth > DEEPEST) return undefined;
  const entries = Array.isArray(value)
    ? value.map((item: unknown) => ["", item] as const)
    : isJsonObject(value)
      ? Object.entries(value)
      : [];
  for (const [name, field] of entries) {
    const known = name.toLowerCase();
    if (SECONDS.has(known)) {
      const wait = waitOf(field as Json, 1000);
      if (wait !== undefined) return wait;
    } else if (MILLISECONDS.has(known)) {
      const wait = waitOf(field as Json, 1);
      if (wait !== undefined) return wait;
    }
    const inner = waitInFields(field, depth + 1);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

/** A number, "3.2s", "1m30s" or protobuf's object with seconds and nanos. */
function waitOf(value: Json, unit: number): number | undefined {
  if (typeof value === "number") return value >= 0 ? value * unit : undefined;
  if (typeof value === "string") return durationOf(value, unit);
  if (!isJsonObject(value)) return undefined;
  const wait = Number(value["seconds"] ?? 0) * 1000 + Number(value["nanos"] ?? 0) / 1e6;
  return wait > 0 ? wait : undefined;
}

function waitInWords(message: string): number | undefined {
  for (const { index, 0: words } of message.matchAll(BEFORE)) {
    const start = index + words.length;
    const wait = durationOf(message.slice(start, start + LONGEST_DURATION), 1000);
    if (wait !== undefined) return wait;
  }
  return undefined;
}

/**
 * Milliseconds of the duration with which a text begins: "3.2s", "1m30s"; undefined without one.
 * @param unit the milliseconds that a number without a unit counts
 */
function durationOf(text: string, unit: number): number | undefined {
  let rest = text.trim().toLowerCase();
  let sum: number | undefined;
  for (;;) {
    const [part = "", number, name] = PART.exec(rest) ?? [];
    const factor = UNITS.find(([pattern]) => pattern.test(name ?? ""))?.[1];
    if (number === undefined) break;
    // A number before other words has no unit.
    if (factor === undefined) return sum ?? Number(number) * unit;
    sum = (sum ?? 0) + Number(number) * factor;
    rest = rest.slice(part.length);
  }
  return sum === undefined ? undefined : Math.round(sum);
}
