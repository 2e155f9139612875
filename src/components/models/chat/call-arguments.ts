import { isJsonObject, parsedJson } from "../../../core/json.ts";

/**
 * The arguments of a call as JSON, from what a server wrote for them: text or an object, encoded once or twice, with an
 * empty object before the real ones, several times, or not at all. Each of several different objects is a call of its own. A text with
 * no such meaning is returned as it is, so that the error of the call shows it.
 */
export function callArguments(input: string): [string, ...string[]] {
  const text = input.trim();
  if (isEmpty(text)) return ["{}"];
  const parts = jsonValuesOf(text)?.map(decoded);
  if (parts === undefined || !parts.every(isObjectText)) return [input];
  const [first, ...others] = withoutRepeats(parts.filter((part) => !isEmpty(part)));
  return first === undefined ? ["{}"] : [first, ...others];
}

/** A longer number is not read as the arguments of a call. */
const LONGEST_NAME = 100;

/** Arguments that arrive in pieces. To ask after each piece whether they are complete costs linear time in all. */
export class GrowingArguments {
  #text = "";
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** The first character that is not a blank. Reading it from the text would copy all of its pieces each time. */
  #first: string | undefined;
  /** True or false as soon as more text cannot change whether the text is one JSON value; undefined until then. */
  #isValue: boolean | undefined;

  get text(): string {
    return this.#text;
  }

  add(piece: string): void {
    this.#text += piece;
    if (this.#isValue === true && piece.trim() !== "") this.#isValue = false;
    if (this.#isValue === undefined) for (const character of piece) this.#follow(character);
  }

  /** True if the text is complete JSON. */
  get isComplete(): boolean {
    if (this.#isValue !== undefined) return this.#isValue;
    if (this.#depth > 0 || this.#isInString || this.#first === undefined) return false;
    const begins = /["{[]/.test(this.#first);
    if (!begins && this.#text.length > LONGEST_NAME) return false;
    const isValue = parsedJson(this.#text) !== undefined;
    // The value of a name or a number may continue.
    if (begins) this.#isValue = isValue;
    return isValue;
  }

  #follow(character: string): void {
    if (this.#first === undefined && character.trim() !== "") this.#first = character;
    if (this.#isEscaped) this.#isEscaped = false;
    else if (character === '"') this.#isInString = !this.#isInString;
    else if (this.#isInString) this.#isEscaped = character === "\\";
    else if (character === "{" || character === "[") this.#depth++;
    else if (character === "}" || character === "]") this.#depth--;
  }
}

/** True for empty arguments: servers begin with such a text, or send nothing else for a call without arguments. */
export function isEmpty(text: string): boolean {
  return /^("\s*"|null|\{\s*\})?$/.test(text.trim());
}

function isObjectText(text: string): boolean {
  return isEmpty(text) || isJsonObject(parsedJson(text));
}

/** Arguments that were encoded as a JSON string once more. */
function decoded(text: string): string {
  if (!text.startsWith('"')) return text;
  const inner = parsedJson(text);
  return typeof inner === "string" && isObjectText(inner) ? inner.trim() : text;
}

/** Servers repeat the arguments after their pieces, or before them: a repetition is not another call. */
function withoutRepeats(parts: readonly string[]): string[] {
  return parts.filter((part, index) => index === 0 || part !== parts[index - 1]);
}

/** The texts of JSON values that follow each other; undefined where something else is between them. */
function jsonValuesOf(text: string): string[] | undefined {
  if (parsedJson(text) !== undefined) return [text];
  const values: string[] = [];
  let rest = text;
  while (rest !== "") {
    const value = rest.slice(0, endOfValue(rest));
    if (parsedJson(value) === undefined) return undefined;
    values.push(value);
    rest = rest.slice(value.length).trimStart();
  }
  return values;
}

/** A string without an end is one token: looked for again from each quote in it, its end would take quadratic time. */
const TOKENS = /"(?:[^"\\]|\\.)*(?:"|\\?$)|[{}[\]]/gs;

/** The end of the first value of a text: an object, a list, a string or `null`. */
function endOfValue(text: string): number {
  if (text.startsWith("null")) return "null".length;
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    if (depth <= 0) return index + token.length;
  }
  return text.length;
}
