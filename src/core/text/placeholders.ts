import { beginningOf } from "../cut.ts";
import type { Json } from "../json.ts";
import { keysOfPath, valueAt } from "../rules/path.ts";

/** The most placeholders of a text. */
const MOST_PLACEHOLDERS = 200;
/** The most characters that one value adds to a text, and all of them together. */
const LONGEST_VALUE = 20_000;
const LONGEST_TEXT = 200_000;

/** A text in quotation marks, which stands for itself and is the way to write two braces, or a path. */
const PLACEHOLDER = /\{\{(?:\s*("(?:[^"\\]|\\.)*")\s*|([^{}]*))\}\}/y;

/** A text whose placeholders are read. */
export type TextWithPlaceholders = readonly (string | { path: readonly string[] })[];

/**
 * Reads a text with placeholders such as `{{ issue.title }}`. Nothing in it is code: a placeholder is a path (see `keysOfPath`), or a text
 * in quotation marks.
 *
 * @throws SyntaxError that says which placeholder is wrong
 */
export function parsePlaceholders(text: string): TextWithPlaceholders {
  const parts: (string | { path: readonly string[] })[] = [];
  for (let at = 0, count = 0; ; count++) {
    const open = text.indexOf("{{", at);
    parts.push(text.slice(at, open === -1 ? text.length : open));
    if (open === -1) return parts;
    if (count === MOST_PLACEHOLDERS) {
      throw new SyntaxError(`the text has more than ${MOST_PLACEHOLDERS} placeholders`);
    }
    PLACEHOLDER.lastIndex = open;
    const found = PLACEHOLDER.exec(text);
    if (found === null) {
      const begun = JSON.stringify(beginningOf(text.slice(open), 40));
      throw new SyntaxError(
        `the placeholder ${begun} is not understood: write {{ issue.title }}, or {{ "{{" }} for two braces`,
      );
    }
    const [whole, literal, path = ""] = found;
    parts.push(literal === undefined ? { path: pathIn(path.trim()) } : textOf(literal));
    at = open + whole.length;
  }
}

/** @throws SyntaxError */
function pathIn(text: string): readonly string[] {
  const keys = keysOfPath(text);
  if (keys !== undefined) return keys;
  throw new SyntaxError(
    `the placeholder {{ ${beginningOf(text, 40)} }} has no path such as issue.title, commits[0].message or headers["x-id"]`,
  );
}

/** @throws SyntaxError */
function textOf(literal: string): string {
  try {
    return String(JSON.parse(literal));
  } catch {
    throw new SyntaxError(
      `the text ${beginningOf(literal, 40)} has an escape that JSON does not know`,
    );
  }
}

/** The text with the values at its paths. A value that is missing or null is empty; an object or a list is JSON. */
export function renderPlaceholders(parts: TextWithPlaceholders, value: Json): string {
  const text = parts
    .map((part) => (typeof part === "string" ? part : shown(valueAt(value, part.path))))
    .join("");
  return beginningOf(text, LONGEST_TEXT);
}

function shown(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > LONGEST_VALUE ? `${beginningOf(text, LONGEST_VALUE)}…` : text;
}
