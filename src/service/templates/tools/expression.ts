import { ValueError } from "../../../core/errors.ts";

const CONSTANTS: ReadonlyMap<string, number> = new Map([
  ["pi", Math.PI],
  ["e", Math.E],
]);

const FUNCTIONS: ReadonlyMap<string, (...values: number[]) => number> = new Map([
  ["sqrt", Math.sqrt],
  ["abs", Math.abs],
  ["round", Math.round],
  ["floor", Math.floor],
  ["ceil", Math.ceil],
  ["ln", Math.log],
  ["log10", Math.log10],
  ["exp", Math.exp],
  ["sin", Math.sin],
  ["cos", Math.cos],
  ["tan", Math.tan],
  ["min", Math.min],
  ["max", Math.max],
]);

const TOKEN = /\s*(?:(\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)|([a-z][a-z0-9]*)|(.))/giy;

/** The deepest nesting of parentheses and signs. */
const DEEPEST = 100;

/**
 * The value of an arithmetic expression. Powers bind to the right and tighter than signs, as in mathematics:
 * `-2 ^ 2` is -4.
 *
 * @throws ValueError when it is not an expression, or its value is not a finite number
 */
export function evaluate(expression: string): number {
  const parser = new Parser(expression);
  const value = parser.parse();
  if (Number.isFinite(value)) return value;
  throw new ValueError(`"${expression}" has no finite value`);
}

class Parser {
  readonly #tokens: string[];
  #next = 0;
  #depth = 0;

  constructor(expression: string) {
    this.#tokens = [...expression.trimEnd().matchAll(TOKEN)].map(([token]) => token.trim());
  }

  parse(): number {
    const value = this.#sum();
    const rest = this.#peek();
    if (rest !== undefined) throw new ValueError(`"${rest}" is not expected there`);
    return value;
  }

  #sum(): number {
    let value = this.#product();
    for (;;) {
      if (this.#accept("+")) value += this.#product();
      else if (this.#accept("-")) value -= this.#product();
      else return value;
    }
  }

  #product(): number {
    let value = this.#signed();
    for (;;) {
      if (this.#accept("*")) value *= this.#signed();
      else if (this.#accept("/")) value /= this.#signed();
      else if (this.#accept("%")) value %= this.#signed();
      else return value;
    }
  }

  #signed(): number {
    if (++this.#depth > DEEPEST) throw new ValueError("the expression is nested too deeply");
    try {
      if (this.#accept("-")) return -this.#signed();
      if (this.#accept("+")) return this.#signed();
      const base = this.#primary();
      return this.#accept("^") ? base ** this.#signed() : base;
    } finally {
      this.#depth--;
    }
  }

  #primary(): number {
    const token = this.#take();
    if (token === "(") {
      const value = this.#sum();
      this.#expect(")");
      return value;
    }
    if (/^[\d.]/.test(token)) return Number(token);
    const name = token.toLowerCase();
    const constant = CONSTANTS.get(name);
    if (constant !== undefined) return constant;
    const apply = FUNCTIONS.get(name);
    if (apply === undefined) throw new ValueError(`"${token}" is not known`);
    return apply(...this.#arguments());
  }

  #arguments(): number[] {
    this.#expect("(");
    const values = [this.#sum()];
    while (this.#accept(",")) values.push(this.#sum());
    this.#expect(")");
    return values;
  }

  #peek(): string | undefined {
    return this.#tokens[this.#next];
  }

  #take(): string {
    const token = this.#tokens[this.#next++];
    if (token === undefined) throw new ValueError("the expression ends too early");
    return token;
  }

  #accept(token: string): boolean {
    if (this.#peek() !== token) return false;
    this.#next++;
    return true;
  }

  #expect(token: string): void {
    const found = this.#take();
    if (found !== token) throw new ValueError(`"${token}" is expected before "${found}"`);
  }
}
