/** The number of checks: two different texts have the same one with a chance of about 1 in this many. */
export const CHECKS = 2 ** 15;
/** Checks that no text has: they are for the events before the first piece. */
export const NO_CHECKS = 16;

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** A text of the output that is in progress. */
export class OpenText<Item> {
  item: Item;
  index: number;
  shown = "";
  #hash = FNV_OFFSET;

  constructor(item: Item, index: number) {
    this.item = item;
    this.index = index;
  }

  add(delta: string): void {
    this.shown += delta;
    this.#hash = hashed(this.#hash, delta);
  }

  /** Distinguishes the text so far from another one. */
  get check(): number {
    return folded(this.#hash);
  }

  /** True if the text begins with the one that a client has. */
  beginsWith({ length, check }: TextSeen): boolean {
    const part = this.shown.slice(0, length);
    return part.length === length && folded(hashed(FNV_OFFSET, part)) === check;
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
