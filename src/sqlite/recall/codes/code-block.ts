import type { CodeLayout } from "./vector-code.ts";

/** Entries per block: the places of their row ids in it fit in a byte. */
export const BLOCK_ENTRIES = 256;

/** Positions in a record: two hashes, the factor of the code, the group, the place of the row id in the block, the code. */
const ID = 0;
const TEXT = 8;
const FACTOR = 16;
const GROUP = 20;
const PLACE = 22;
const CODE = 24;

/** Bytes of a record's batch, for an entry whose vector is searched elsewhere: it takes the place of the code. */
export const AWAY_BYTES = 4;

/** The record of an entry in a block. */
export interface CodeRecord {
  /** Hash of its id. */
  id: number;
  /** Hash of its text. */
  text: number;
  /** 0 for an entry of all groups. */
  group: number;
  factor: number;
  /** The code; the number of a batch for a vector that is searched elsewhere; empty without a vector. */
  bits: Uint8Array;
}

export function layoutOf(codeBytes: number): CodeLayout {
  return { record: CODE + codeBytes, factor: FACTOR, code: CODE };
}

/** The records of the entries of one embedding whose row ids follow each other, packed into the bytes of one row. */
export class PackedCodes {
  readonly first: number;
  readonly #layout: CodeLayout;
  #bytes: Uint8Array<ArrayBuffer>;
  #count: number;

  /** @param first the row id at place 0 */
  constructor(first: number, layout: CodeLayout, stored: ArrayBuffer = new ArrayBuffer(0)) {
    this.first = first;
    this.#layout = layout;
    this.#bytes = new Uint8Array(stored);
    this.#count = stored.byteLength / layout.record;
  }

  get count(): number {
    return this.#count;
  }

  /** The stored bytes of the block. */
  get body(): ArrayBuffer {
    return this.#bytes.slice(0, this.#count * this.#layout.record).buffer;
  }

  /** The records, for a scan. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  seqAt(index: number): number {
    return this.first + (this.#bytes[index * this.#layout.record + PLACE] ?? 0);
  }

  groupAt(index: number): number {
    return this.#view.getUint16(index * this.#layout.record + GROUP, true);
  }

  idAt(index: number): number {
    return this.#view.getFloat64(index * this.#layout.record + ID, true);
  }

  textAt(index: number): number {
    return this.#view.getFloat64(index * this.#layout.record + TEXT, true);
  }

  /** The batch that took an entry's vector elsewhere. */
  batchAt(index: number): number {
    return this.#view.getUint32(index * this.#layout.record + CODE, true);
  }

  /** The index of an entry's record; -1 if it has none here. */
  indexOf(seq: number): number {
    for (let index = 0; index < this.#count; index++) if (this.seqAt(index) === seq) return index;
    return -1;
  }

  add(seq: number, { id, text, group, factor, bits }: CodeRecord): void {
    const { record } = this.#layout;
    const at = this.#count * record;
    if (this.#bytes.length < at + record) this.#grow();
    const view = this.#view;
    view.setFloat64(at + ID, id, true);
    view.setFloat64(at + TEXT, text, true);
    view.setFloat32(at + FACTOR, factor, true);
    view.setUint16(at + GROUP, group, true);
    view.setUint8(at + PLACE, seq - this.first);
    this.#bytes.set(bits, at + CODE);
    this.#count++;
  }

  /** The last record takes the place of the removed one. */
  remove(index: number): void {
    const { record } = this.#layout;
    const last = (this.#count - 1) * record;
    this.#bytes.copyWithin(index * record, last, last + record);
    this.#count--;
  }

  get #view(): DataView {
    return new DataView(this.#bytes.buffer);
  }

  #grow(): void {
    const { record } = this.#layout;
    const room = Math.min(BLOCK_ENTRIES, Math.max(8, 2 * this.#count));
    const grown = new Uint8Array(room * record);
    grown.set(this.#bytes.subarray(0, this.#count * record));
    this.#bytes = grown;
  }
}
