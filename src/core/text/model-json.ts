import { ValueError } from "../errors.ts";
import { isJsonObject, type Json, parsedJson, sortedJson } from "../json.ts";
import { jsonEnd, jsonErrorMessage } from "./json-error.ts";
import { splitThought } from "../models/thought-tags.ts";

/** A value from a model's answer, or why there is none. */
export type JsonReading<T> = { value: T } | { fault: string };

/**
 * Reads JSON from a model's answer: the whole answer or an object or list in it, in a code block, behind or before prose, behind a
 * thought, with a byte order mark. An answer with several values is read if exactly one of them fits; those in code blocks count
 * before others.
 *
 * @param check the value as the caller needs it, or what is wrong with it
 */
export function readJson<T>(text: string, check: (value: Json) => JsonReading<T>): JsonReading<T> {
  const whole = parsed(text);
  if (whole !== undefined) {
    const reading = check(whole.value);
    if ("value" in reading || typeof whole.value !== "string") return reading;
    // Models encode an object twice at times.
    const inner = parsed(whole.value);
    return inner === undefined ? reading : check(inner.value);
  }
  const { content } = splitThought(text, true);
  const values = valuesIn(content);
  if (values.length === 0) return { fault: `not JSON: ${jsonErrorMessage(content)}` };
  const readings = values.map((found) => ({ ...found, reading: check(found.value) }));
  const fitting = readings.filter(({ reading }) => "value" in reading);
  const inBlocks = fitting.filter(({ isInBlock }) => isInBlock);
  const [first, ...others] = inBlocks.length > 0 ? inBlocks : fitting;
  if (first === undefined) return readings.at(-1)?.reading ?? { fault: "not JSON" };
  const isOne = others.every(({ value }) => sortedJson(value) === sortedJson(first.value));
  if (isOne) return first.reading;
  return { fault: `the answer has ${others.length + 1} JSON values, and must have one` };
}

/**
 * The JSON value of a text as models write it: alone or in a code block, behind or before prose, behind a thought, with a byte order
 * mark (AutoGen `extract_json_from_str`). Inside other text only objects and lists are found.
 *
 * @throws ValueError when the text has no JSON, or several different values
 *
 * @example
 * extractJson('Here it is:\n```json\n{"city": "Oslo"}\n```'); // { city: "Oslo" }
 */
export function extractJson(text: string): Json {
  const objects = readJson<Json>(text, (value) =>
    isJsonObject(value) ? { value } : { fault: "not an object" },
  );
  if ("value" in objects) return objects.value;
  // A list in prose may be a citation, such as [1], so that an object counts before it.
  const any = readJson(text, (value) => ({ value }));
  if ("value" in any) return any.value;
  throw new ValueError(`the text has no JSON value that can be read: ${any.fault}`);
}

function parsed(text: string): { value: Json } | undefined {
  const value = parsedJson(text.trim());
  return value === undefined ? undefined : { value };
}

interface FoundValue {
  value: Json;
  /** True for the beginning of a code block. */
  isInBlock: boolean;
}

/** The objects and lists of a text that are in no other one. */
function valuesIn(text: string): FoundValue[] {
  const found: FoundValue[] = [];
  const begins = /[{[](?=\s*["{}[\]\d\-tfn])/g;
  for (let match = begins.exec(text); match !== null; match = begins.exec(text)) {
    const end = jsonEnd(text, match.index);
    const value = end === undefined ? undefined : parsed(text.slice(match.index, end));
    if (end === undefined || value === undefined) {
      // Values inside of a broken one are parts of it, not the answer.
      begins.lastIndex = endOfBroken(text, match.index);
      continue;
    }
    begins.lastIndex = end;
    const isInBlock = /```(?:json[\w-]*)?$/i.test(
      text.slice(0, match.index).slice(-40).replaceAll(/\s/g, ""),
    );
    found.push({ ...value, isInBlock });
  }
  return found;
}

/**
 * The end of the brackets that are open at `start`: a bracket in prose ends soon, one of JSON that was cut off never does.
 */
function endOfBroken(text: string, start: number): number {
  const brackets = /["{}[\]]/g;
  brackets.lastIndex = start;
  let depth = 0;
  /** Quotes before this place begin no string: it would end where one before it had ended. */
  let open = start;
  for (let match = brackets.exec(text); match !== null; match = brackets.exec(text)) {
    const [mark] = match;
    if (mark === '"' && match.index < open) continue;
    if (mark === '"') {
      const end = endOfString(text, match.index);
      if (text[end] === '"') brackets.lastIndex = end + 1;
      else open = end;
    } else depth += mark === "{" || mark === "[" ? 1 : -1;
    if (depth === 0) return brackets.lastIndex;
  }
  return text.length;
}

/** The place of the quote that ends a string, or where the string breaks off. */
function endOfString(text: string, start: number): number {
  const string = /"(?:[^"\\\n]|\\.)*/y;
  string.lastIndex = start;
  return start + (string.exec(text)?.[0].length ?? 1);
}
