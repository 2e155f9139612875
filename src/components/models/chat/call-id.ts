import { hash64 } from "../../../core/hash.ts";

/** Short and of letters and digits, so that every API takes it. */
const REPLACED_LENGTH = 9;

/**
 * The ids of the calls of one conversation, as an API takes them: each is there once. Ids of other makers' models may have other
 * characters or be longer, and some servers give none or begin again with each answer. A new id is a function of the
 * calls before it, so that the same conversation has the same ids in each request.
 */
export class CallIds {
  readonly #accepted: RegExp;
  /** The number of times that each stored id came. */
  readonly #counts = new Map<string, number>();
  readonly #taken = new Set<string>();

  /** @param accepted the ids that the API takes */
  constructor(accepted: RegExp) {
    this.#accepted = accepted;
  }

  /** The id of the next call. */
  take(stored: string): string {
    let count = this.#counts.get(stored) ?? 0;
    let id;
    do {
      count++;
      id = this.#idOf(stored, count);
    } while (this.#taken.has(id));
    this.#counts.set(stored, count);
    this.#taken.add(id);
    return id;
  }

  #idOf(stored: string, count: number): string {
    if (stored === "") return this.#accept(`call_${count - 1}`);
    return count === 1 ? this.#accept(stored) : replaced(`${stored} ${count}`);
  }

  #accept(id: string): string {
    return this.#accepted.test(id) ? id : replaced(id);
  }
}

function replaced(id: string): string {
  return hash64(id).slice(0, REPLACED_LENGTH);
}
