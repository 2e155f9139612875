/** The number of checks: two different texts have the same one with a chance of about 1 in this many. */
export const CHECKS = 2 ** 15;
/** Checks that no text has: they are for the events before the first piece. */
export const NO_CHECKS = 16;

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** A text of the output that is in progress. */
export class OpenText<Item extends { id: string }> {
  item: Item;
  index: number;
  shown = "";
  /** The hash of the id: a message with the same text is another item. */
  readonly #beginning: number;
  #hash: number;

  constructor(item: Item, index: number) {
    this.item = item;
    this.index = index;
    this.#beginning = hashed(FNV_OFFSET, item.id);
    this.#hash = this.#beginning;
  }

  add(delta: string): void {
    this.shown += delta;
    this.#hash = hashed(this.#hash, delta);
  }

  /** Distinguishes the text so far from another one, and from the same text of another item. */
  get check(): number {
    return folded(this.#hash);
  }

  /** True if a client has the beginning of this item. */
  continues({ length, check }: TextSeen): boolean {
    const part = this.shown.slice(0, length);
    return part.length === length && folded(hashed(this.#beginning, part)) === check;
  }
}

/** The part of a text that a client has. */
export interface TextSeen {
  length: number;
  check: number;
}

/** FNV-1a over the UTF-16 code units. */
function hashed(hash: number, text: string): number {
  let result = hash;
  for (let index = 0; index < text.length; index++) {
    result = Math.imul(result ^ text.charCodeAt(index), FNV_PRIME);
  }
  return result;
}

function folded(hash: number): number {
  return NO_CHECKS + ((hash >>> 0) % (CHECKS - NO_CHECKS));
}
