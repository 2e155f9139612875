import { isJsonObject } from "../../core/json.ts";

/** Shorter texts are stored where they stand. */
const SHORTEST_TEXT = 64;
/** Rows that are larger even so are stored without references: their parts are copied as they are. */
const LARGEST_ROW = 300_000;
/** Of the latest events, which new items repeat. */
const MOST_EVENTS = 64;
const MOST_CHARACTERS = 1_000_000;
/** Begins a reference. A text that begins like one gets another in front. */
const MARK = "\0";

/** A message of the event log and its longer texts, in the order of its JSON. */
interface Recorded {
  message: unknown;
  texts: readonly string[];
}

/**
 * Stores items of threads and model contexts without repeating what the event log holds. In a row `{"refs": [...]}` the
 * text "\0<seq>" is the message with this cursor, and "\0<seq>.<n>" its n-th text of at least 64 characters, from 0. Rows
 * without references are plain arrays.
 */
export class EventReferences {
  readonly #load: (seq: number) => unknown;
  /** The latest events by cursor, oldest first. */
  readonly #recent = new Map<number, Recorded & { body: string }>();
  readonly #bodies = new Map<string, number>();
  readonly #texts = new Map<string, string>();
  #characters = 0;

  /** @param load the message with a cursor */
  constructor(load: (seq: number) => unknown) {
    this.#load = load;
  }

  /** A message was recorded. @param body its JSON */
  recorded(seq: number, message: unknown, body: string): void {
    const texts = textsOf(message);
    this.#recent.set(seq, { message, texts, body });
    this.#bodies.set(body, seq);
    texts.forEach((text, n) => this.#texts.set(text, `${MARK}${seq}.${n}`));
    this.#characters += body.length;
    for (const oldest of this.#recent.keys()) {
      if (this.#recent.size <= MOST_EVENTS && this.#characters <= MOST_CHARACTERS) return;
      this.#drop(oldest);
    }
  }

  /** After a transaction that failed. */
  forget(): void {
    this.#recent.clear();
    this.#bodies.clear();
    this.#texts.clear();
    this.#characters = 0;
  }

  /** The text of a row with these items. */
  write(items: readonly unknown[]): string {
    const plain = items.map((item) => JSON.stringify(item));
    const known = items.some((item, n) => this.#bodies.has(plain[n] ?? "") || this.#repeats(item));
    if (!known) return `[${plain.join(",")}]`;
    const refs = items.map((item, n) => {
      const seq = this.#bodies.get(plain[n] ?? "");
      if (seq !== undefined) return JSON.stringify(`${MARK}${seq}`);
      return JSON.stringify(item, (_key, value: unknown) =>
        typeof value === "string" ? this.#refer(value) : value,
      );
    });
    const text = `{"refs":[${refs.join(",")}]}`;
    return text.length <= LARGEST_ROW ? text : `[${plain.join(",")}]`;
  }

  /** The items of a row. */
  read(text: string): unknown[] {
    const row = JSON.parse(text) as unknown[] | { refs: unknown[] };
    if (Array.isArray(row)) return row;
    const events = new Map<number, Recorded>();
    return row.refs.map((item) => this.#resolve(item, events));
  }

  #repeats(value: unknown): boolean {
    if (typeof value === "string") return value.length >= SHORTEST_TEXT && this.#texts.has(value);
    return inner(value).some((part) => this.#repeats(part));
  }

  #refer(text: string): string {
    if (text.startsWith(MARK)) return MARK + text;
    return text.length < SHORTEST_TEXT ? text : (this.#texts.get(text) ?? text);
  }

  #resolve(value: unknown, events: Map<number, Recorded>): unknown {
    if (typeof value === "string") {
      if (!value.startsWith(MARK)) return value;
      if (value.startsWith(MARK, 1)) return value.slice(1);
      const [seq, n] = value.slice(1).split(".");
      const { message, texts } = this.#event(Number(seq), events);
      return n === undefined ? message : texts[Number(n)];
    }
    if (Array.isArray(value)) return value.map((item) => this.#resolve(item, events));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, part]) => [key, this.#resolve(part, events)]),
    );
  }

  #event(seq: number, events: Map<number, Recorded>): Recorded {
    const known = this.#recent.get(seq) ?? events.get(seq);
    if (known) return known;
    const message = this.#load(seq);
    const event = { message, texts: textsOf(message) };
    events.set(seq, event);
    return event;
  }

  #drop(seq: number): void {
    const event = this.#recent.get(seq);
    if (event === undefined) return;
    this.#recent.delete(seq);
    this.#characters -= event.body.length;
    if (this.#bodies.get(event.body) === seq) this.#bodies.delete(event.body);
    event.texts.forEach((text, n) => {
      if (this.#texts.get(text) === `${MARK}${seq}.${n}`) this.#texts.delete(text);
    });
  }
}

function textsOf(value: unknown): string[] {
  if (typeof value === "string") return value.length >= SHORTEST_TEXT ? [value] : [];
  return inner(value).flatMap(textsOf);
}

function inner(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? Object.values(value) : [];
}
