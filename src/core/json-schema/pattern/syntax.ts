import { ValueError } from "../../errors.ts";

/** A regular expression as a tree. */
export type Node =
  | { type: "atom"; atom: Atom }
  | { type: "assert"; kind: "start" | "end" | "boundary" | "inside" }
  | { type: "look"; ahead: boolean; negated: boolean; body: Node }
  | { type: "sequence"; parts: Node[] }
  | { type: "choice"; options: Node[] }
  | { type: "repeat"; body: Node; min: number; max: number };

/** Matches one character: a literal, a class or an escape. */
export type Atom = (character: string) => boolean;

const MAX_NESTING = 100;

/** One unit of a pattern that is valid with the `u` flag. */
const TOKEN =
  /\[(?:\\[^]|[^\]\\])*\]|\(\?(?:[:=!]|<[=!]|<[^>]*>)|\\u\{[^}]*\}|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\x..|\\c.|\\[pP]\{[^}]*\}|\\[1-9]\d*|\\k<[^>]*>|\\[^]|[*+?]\??|\{\d+(?:,\d*)?\}\??|[^]/uy;

/**
 * Parses an ECMAScript regular expression (with the `u` flag, as JSON Schema asks for). What a single character may be
 * is left to the runtime's own engine, which also checks the syntax first, so that both agree.
 *
 * @throws ValueError for invalid syntax and for what cannot be matched in linear time
 */
export function parsePattern(source: string): Node {
  try {
    RegExp(source, "u");
  } catch (error) {
    const reason = error instanceof Error ? error.message.split(": ").at(-1) : "invalid syntax";
    throw new ValueError(`not a valid regular expression: ${reason}`);
  }
  return new Parser(tokenize(source)).parse();
}

function tokenize(source: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < source.length) {
    const match = TOKEN.exec(source);
    if (match === null) break;
    tokens.push(match[0]);
  }
  return tokens;
}

class Parser {
  readonly #tokens: readonly string[];
  readonly #atoms = new Map<string, Atom>();
  #next = 0;
  #nesting = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  parse(): Node {
    const options = [this.#sequence()];
    while (this.#take("|")) options.push(this.#sequence());
    const [only] = options;
    return options.length === 1 && only !== undefined ? only : { type: "choice", options };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    for (;;) {
      const token = this.#tokens[this.#next];
      if (token === undefined || token === "|" || token === ")") return { type: "sequence", parts };
      this.#next++;
      parts.push(this.#repeated(this.#term(token)));
    }
  }

  #repeated(body: Node): Node {
    const token = this.#tokens[this.#next] ?? "";
    const counts = /^\{(\d+)(,(\d*))?\}/.exec(token);
    let range: [min: number, max: number];
    if (counts !== null) {
      const min = Number(counts[1]);
      const limit = counts[3] === undefined || counts[3] === "" ? Infinity : Number(counts[3]);
      range = [min, counts[2] === undefined ? min : limit];
    } else if (token.startsWith("*")) range = [0, Infinity];
    else if (token.startsWith("+")) range = [1, Infinity];
    else if (token.startsWith("?")) range = [0, 1];
    else return body;
    this.#next++;
    return { type: "repeat", body, min: range[0], max: range[1] };
  }

  #term(token: string): Node {
    if (token === "^") return { type: "assert", kind: "start" };
    if (token === "$") return { type: "assert", kind: "end" };
    if (token === "\\b") return { type: "assert", kind: "boundary" };
    if (token === "\\B") return { type: "assert", kind: "inside" };
    if (/^\\(?:[1-9]|k<)/.test(token)) {
      throw new ValueError(
        `back references such as ${token} are not supported: they cannot be matched in linear time`,
      );
    }
    if (token.startsWith("(")) return this.#group(token);
    return { type: "atom", atom: this.#atom(token) };
  }

  #group(token: string): Node {
    if (++this.#nesting > MAX_NESTING) {
      throw new ValueError(`groups are nested deeper than ${MAX_NESTING} levels`);
    }
    if (token === "(" && this.#tokens[this.#next] === "?") {
      throw new ValueError("flags inside of a pattern, such as (?i:...), are not supported");
    }
    const body = this.parse();
    this.#take(")");
    this.#nesting--;
    const look = /^\(\?(<?)([=!])/.exec(token);
    if (look === null) return body;
    return { type: "look", ahead: look[1] === "", negated: look[2] === "!", body };
  }

  #atom(token: string): Atom {
    const existing = this.#atoms.get(token);
    if (existing !== undefined) return existing;
    const single = token !== "." && !/^[\\[]/.test(token);
    const expression = single ? undefined : new RegExp(`^(?:${token})$`, "u");
    const atom: Atom =
      expression === undefined
        ? (character) => character === token
        : (character) => expression.test(character);
    this.#atoms.set(token, atom);
    return atom;
  }

  #take(token: string): boolean {
    if (this.#tokens[this.#next] !== token) return false;
    this.#next++;
    return true;
  }
}
