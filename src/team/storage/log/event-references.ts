import { isExactNumber } from "../../../core/json.ts";
import type { Message } from "../../../core/messages/message.ts";

/** Shorter texts are stored in place. */
const SHORTEST_TEXT = 64;
/** Rows that are still larger are stored without references: their parts are copied unchanged. */
const LARGEST_ROW = 300_000;
/** The most events that new items may refer to, and the most characters of their JSON. */
const MOST_EVENTS = 64;
const MOST_CHARACTERS = 1_000_000;
/** Starts a reference. A text that starts with this character gets a second one. */
const MARK = "\0";

/** A message of the event log and its longer texts, in the order of its JSON. */
interface Recorded {
  message: Message;
  texts: readonly string[];
}

/**
 * Stores items of threads and model contexts without repeating what the event log holds. In a row `{"refs": [...]}` the
 * text "\0<seq>" stands for the message with this cursor, and "\0<seq>.<n>" for its n-th text of at least 64 characters, from
 * 0. Rows without references are plain arrays.
 */
export class EventReferences {
  readonly #load: (seq: number) => string;
  /** The latest events that were recorded or read, by cursor, the latest last. */
  readonly #recent = new Map<number, Recorded & { body: string }>();
  /** Cursors by the message's id, and the references of their texts. */
  readonly #ids = new Map<string, number>();
  readonly #texts = new Map<string, string>();
  #characters = 0;

  /** @param load the JSON of the message with a cursor */
  constructor(load: (seq: number) => string) {
    this.#load = load;
  }

  /** Adds a recorded message. @param body its JSON */
  recorded(seq: number, message: Message, body: string): void {
    // Such a message would replace all others. The large part of it is stored only once in any case.
    if (body.length > MOST_CHARACTERS) return;
    const texts = textsIn(message);
    this.#recent.set(seq, { message, texts, body });
    this.#ids.set(message.id, seq);
    texts.forEach((text, n) => this.#texts.set(text, `${MARK}${seq}.${n}`));
    this.#characters += body.length;
    for (const oldest of this.#recent.keys()) {
      if (this.#recent.size <= MOST_EVENTS && this.#characters <= MOST_CHARACTERS) return;
      this.#drop(oldest);
    }
  }

  /** Drops the copies in memory after a failed transaction. */
  forget(): void {
    this.#recent.clear();
    this.#ids.clear();
    this.#texts.clear();
    this.#characters = 0;
  }

  /** The text of a row with these items. */
  write(items: readonly unknown[]): string {
    let refers = false;
    const text = JSON.stringify({ refs: items }, (_key, value: unknown) => {
      const reference = this.#referenceTo(value);
      if (reference !== undefined) refers = true;
      else if (typeof value === "string" && value.startsWith(MARK)) return MARK + value;
      return reference ?? value;
    });
    return refers && text.length <= LARGEST_ROW ? text : JSON.stringify(items);
  }

  /** True if a stored row refers to events. */
  isIn(text: string): boolean {
    return !text.startsWith("[");
  }

  /** The items of a row. */
  read(text: string): unknown[] {
    const row = JSON.parse(text) as unknown[] | { refs: unknown[] };
    if (Array.isArray(row)) return row;
    const events = new Map<number, Recorded>();
    return row.refs.map((item) => this.#resolve(item, events));
  }

  /** The reference to a text or a message; undefined if no recorded event has it. */
  #referenceTo(value: unknown): string | undefined {
    if (typeof value === "string") {
      const isShort = value.length < SHORTEST_TEXT || value.startsWith(MARK);
      return isShort ? undefined : this.#texts.get(value);
    }
    if (!isObject(value) || typeof value["id"] !== "string") return undefined;
    const seq = this.#ids.get(value["id"]);
    if (seq === undefined) return undefined;
    const { message, body } = this.#recent.get(seq) as Recorded & { body: string };
    return message === value || JSON.stringify(value) === body ? `${MARK}${seq}` : undefined;
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
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, part]) => [key, this.#resolve(part, events)]),
    );
  }

  #event(seq: number, events: Map<number, Recorded>): Recorded {
    const existing = this.#recent.get(seq) ?? events.get(seq);
    if (existing) return existing;
    const body = this.#load(seq);
    const message = JSON.parse(body) as Message;
    const event = { message, texts: textsIn(message) };
    events.set(seq, event);
    // In an object that was unloaded, the context of an agent is about to repeat what the agent reads of the thread.
    this.recorded(seq, message, body);
    return event;
  }

  #drop(seq: number): void {
    const event = this.#recent.get(seq);
    if (event === undefined) return;
    this.#recent.delete(seq);
    this.#characters -= event.body.length;
    if (this.#ids.get(event.message.id) === seq) this.#ids.delete(event.message.id);
    event.texts.forEach((text, n) => {
      if (this.#texts.get(text) === `${MARK}${seq}.${n}`) this.#texts.delete(text);
    });
  }
}

function textsIn(message: object): string[] {
  return Object.values(message).flatMap(textsOf);
}

function textsOf(value: unknown): string[] {
  if (typeof value === "string") return value.length >= SHORTEST_TEXT ? [value] : [];
  return isObject(value) && !isExactNumber(value) ? textsIn(value) : [];
}

/** An object or an array. */
function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null;
}
