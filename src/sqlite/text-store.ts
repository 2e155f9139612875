import {
  BlobStore,
  hasReferences,
  lengthWithoutReferences,
  SHORTEST_BASE64,
} from "./blob-store.ts";
import type { Database } from "./database.ts";
import { joined, type StoredPart, PART_BYTES, partsOf, PartStore } from "./part-store.ts";

/** A UTF-16 unit takes at most three bytes, so shorter texts need no counting. */
const SURELY_SMALL = Math.floor(PART_BYTES / 3);

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Stores JSON texts of any size. The owner's column holds the text itself, with references in the place of large base64; one
 * that is too large for a row even so is null there and stored in parts under the owner's name.
 */
export class TextStore {
  readonly blobs: BlobStore;
  readonly #parts: PartStore;

  constructor(db: Database) {
    this.#parts = new PartStore(db);
    this.blobs = new BlobStore(db, this.#parts);
  }

  /** Stores a text that stays. Returns the value for the owner's column. */
  store(owner: string, text: string): string | null {
    return this.#store(owner, text, undefined);
  }

  /** Stores a text until {@link remove}. Returns the value for the owner's column. */
  storeRemovable(owner: string, text: string): string | null {
    return this.#store(owner, text, owner);
  }

  /** The text whose column holds `column`. */
  load(owner: string, column: string | null): string {
    return this.blobs.restore(this.stored(owner, column));
  }

  /** The text with its references. */
  stored(owner: string, column: string | null): string {
    return column ?? decoder.decode(joined(this.#parts.read(owner)));
  }

  /** Characters or bytes of the text, without loading blobs. */
  size(owner: string, column: string | null): number {
    if (column !== null)
      return hasReferences(column) ? lengthWithoutReferences(column) : column.length;
    return this.blobs.exist
      ? lengthWithoutReferences(this.stored(owner, null))
      : this.#parts.size(owner).bytes;
  }

  /** Stores one part of a large text of another team; {@link receive} comes after the last one. */
  receivePart(owner: string, n: number, body: ArrayBuffer): void {
    this.#parts.add(owner, n, body);
  }

  /** Stores a text of another team, whose blobs may come later. Returns the value for the owner's column. */
  receive(owner: string, column: string | null): string | null {
    const arrived = this.stored(owner, column);
    const text = this.blobs.share(arrived, undefined);
    this.blobs.expect(text);
    if (column === null) {
      if (text === arrived) return null;
      this.#parts.remove(owner);
    }
    return this.#place(owner, text);
  }

  /** Removes what is stored of a text outside of its column. */
  remove(owner: string): void {
    // Without parts there are no blobs, either.
    if (!this.#parts.exist) return;
    this.#parts.remove(owner);
    this.blobs.release(owner);
  }

  #store(owner: string, text: string, user: string | undefined): string | null {
    // It has no base64 that is large enough for a blob, and fits into its row.
    if (text.length < SHORTEST_BASE64) return text;
    return this.#place(owner, this.blobs.share(text, user));
  }

  #place(owner: string, text: string): string | null {
    const parts = textParts(text);
    if (parts === undefined) return text;
    for (const { n, body } of parts) this.#parts.add(owner, n, body);
    return null;
  }
}

/** True if a part of a text is stored outside of its column. */
export function isElsewhere(column: string | null): boolean {
  return column === null || hasReferences(column);
}

/** The parts of a text that is too large for a row. */
export function textParts(text: string): Iterable<StoredPart> | undefined {
  if (text.length <= SURELY_SMALL) return undefined;
  const bytes = encoder.encode(text);
  return bytes.length <= PART_BYTES ? undefined : partsOf(bytes);
}
