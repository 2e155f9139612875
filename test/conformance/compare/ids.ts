import { type Json } from "troupe";
import { isJsonObject } from "#core/json.ts";

/** Ids made while recording: messages and requests for input. All others are literal. */
const GENERATED = /^[mr]\d+$/;

const ID_KEYS: ReadonlySet<string> = new Set(["id", "request_id", "full_message_id"]);

/** Ids of the recording and those of the implementation: bound when they first meet, later they must agree. */
export class IdMap {
  readonly #actual: Map<string, string>;
  readonly #expected: Map<string, string>;

  constructor(actual = new Map<string, string>(), expected = new Map<string, string>()) {
    this.#actual = actual;
    this.#expected = expected;
  }

  /** For an attempt at comparing that may fail; `adopt` keeps what it learned. */
  fork(): IdMap {
    return new IdMap(new Map(this.#actual), new Map(this.#expected));
  }

  adopt(fork: IdMap): void {
    for (const [expected, actual] of fork.#actual) this.#bind(expected, actual);
  }

  agree(expected: string, actual: string): boolean {
    if (!GENERATED.test(expected)) return expected === actual;
    const bound = this.#actual.get(expected);
    if (bound !== undefined) return bound === actual;
    if (this.#expected.has(actual)) return false;
    this.#bind(expected, actual);
    return true;
  }

  /** A recorded value as the implementation must get it: bound ids replaced, unbound ones bound to themselves. */
  toActual<T extends Json>(value: T): T {
    return this.#replaced(value) as T;
  }

  #replaced(value: Json): Json {
    if (Array.isArray(value)) return value.map((item) => this.#replaced(item));
    if (!isJsonObject(value)) return value;
    const entries = Object.entries(value).map(([key, item]): [string, Json] =>
      isIdOf(value, key) && typeof item === "string" && GENERATED.test(item)
        ? [key, this.#given(item)]
        : [key, this.#replaced(item)],
    );
    return Object.fromEntries(entries);
  }

  #given(expected: string): string {
    const bound = this.#actual.get(expected);
    if (bound !== undefined) return bound;
    this.#bind(expected, expected);
    return expected;
  }

  #bind(expected: string, actual: string): void {
    this.#actual.set(expected, actual);
    this.#expected.set(actual, expected);
  }
}

/** Whether `key` holds the id of a message or request; a tool call has an id, too, which is the model's. */
export function isIdOf(object: { [key: string]: Json }, key: string): boolean {
  return ID_KEYS.has(key) && !("arguments" in object);
}
