const LITERALS = ["true", "false", "null"];
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const BLANKS = /[ \t\n\r]*/y;

/** The position and the reason for which a text is not valid JSON. */
class JsonFault extends Error {
  readonly position: number;

  constructor(what: string, position: number) {
    super(what);
    this.position = position;
  }
}

/**
 * Describes the error in invalid JSON with the words and positions of Python's parser, which models know from
 * training: `Expecting ',' delimiter: line 1 column 9 (char 8)`.
 */
export function jsonErrorMessage(text: string): string {
  try {
    const end = blanks(text, value(text, blanks(text, 0)));
    if (end < text.length) throw new JsonFault("Extra data", end);
  } catch (error) {
    if (error instanceof JsonFault) return located(text, error);
    if (error instanceof RangeError) return "the text is nested too deeply";
    throw error;
  }
  return "the text is not JSON";
}

/** The end of the JSON value that begins at `start`; undefined if none begins there. */
export function jsonEnd(text: string, start: number): number | undefined {
  try {
    return value(text, start);
  } catch (error) {
    // A value can be nested so deeply that the stack is too small for it.
    if (error instanceof JsonFault || error instanceof RangeError) return undefined;
    throw error;
  }
}

function located(text: string, { message, position }: JsonFault): string {
  const before = text.slice(0, position);
  const line = before.split("\n").length;
  const column = position - before.lastIndexOf("\n");
  return `${message}: line ${line} column ${column} (char ${position})`;
}

/** Each of these takes the position where something starts and returns the one after it. */
function value(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return string(text, start);
  if (first === "{") return object(text, start);
  if (first === "[") return array(text, start);
  const literal = LITERALS.find((word) => text.startsWith(word, start));
  if (literal !== undefined) return start + literal.length;
  const end = after(NUMBER, text, start);
  if (end === start) throw new JsonFault("Expecting value", start);
  return end;
}

function object(text: string, start: number): number {
  let at = blanks(text, start + 1);
  if (text[at] === "}") return at + 1;
  for (;;) {
    if (text[at] !== '"') {
      throw new JsonFault("Expecting property name enclosed in double quotes", at);
    }
    at = blanks(text, string(text, at));
    if (text[at] !== ":") throw new JsonFault("Expecting ':' delimiter", at);
    at = blanks(text, value(text, blanks(text, at + 1)));
    if (text[at] === "}") return at + 1;
    if (text[at] !== ",") throw new JsonFault("Expecting ',' delimiter", at);
    at = blanks(text, at + 1);
  }
}

function array(text: string, start: number): number {
  let at = blanks(text, start + 1);
  if (text[at] === "]") return at + 1;
  for (;;) {
    at = blanks(text, value(text, at));
    if (text[at] === "]") return at + 1;
    if (text[at] !== ",") throw new JsonFault("Expecting ',' delimiter", at);
    at = blanks(text, at + 1);
  }
}

function string(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '"') return at + 1;
    if (char < " ") throw new JsonFault("Invalid control character at", at);
    if (char === "\\") at = escape(text, at);
  }
  throw new JsonFault("Unterminated string starting at", start);
}

/** The last position of an escape sequence. */
function escape(text: string, start: number): number {
  const kind = text.charAt(start + 1);
  if (kind === "u") {
    if (/^[0-9a-fA-F]{4}$/.test(text.slice(start + 2, start + 6))) return start + 5;
    throw new JsonFault("Invalid \\uXXXX escape", start + 1);
  }
  if (kind !== "" && !'"\\/bfnrt'.includes(kind)) throw new JsonFault("Invalid \\escape", start);
  return start + 1;
}

function blanks(text: string, start: number): number {
  return after(BLANKS, text, start);
}

function after(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return start + (pattern.exec(text)?.[0].length ?? 0);
}
