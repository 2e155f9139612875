import { hashOf } from "../../../core/hash.ts";
import { AWAY_BYTES, BLOCK_ENTRIES, PackedCodes, layoutOf } from "./code-block.ts";
import { type CodeLayout, VectorCoder } from "./vector-code.ts";

/** The vectors of a space: those of one embedding with one number of dimensions. */
export interface SpaceKey {
  /** The name of the embedding. */
  name: string;
  dimensions: number;
}

export interface RecordPlace {
  block: PackedCodes;
  index: number;
}

/**
 * The entries of one {@link SpaceKey}. Entries whose vectors are searched elsewhere have a space of their own, which is
 * stored with the negative number of dimensions: their records have the batch that took them there instead of a code.
 */
export class CodeSpace {
  readonly id: number;
  readonly name: string;
  /** As it is stored: 0 without vectors, negative for vectors that are searched elsewhere. */
  readonly dimensions: number;
  readonly coder: VectorCoder | undefined;
  readonly layout: CodeLayout;
  readonly blocks = new Map<number, PackedCodes>();
  /** Entries by the hashes of their texts; made when it is first needed. */
  #texts: Map<number, number> | undefined;

  constructor(id: number, name: string, dimensions: number) {
    this.id = id;
    this.name = name;
    this.dimensions = dimensions;
    this.coder = dimensions > 0 ? new VectorCoder(dimensions) : undefined;
    this.layout = layoutOf(dimensions < 0 ? AWAY_BYTES : (this.coder?.bytes ?? 0));
  }

  get isAway(): boolean {
    return this.dimensions < 0;
  }

  get key(): SpaceKey {
    return { name: this.name, dimensions: Math.abs(this.dimensions) };
  }

  get size(): number {
    let size = 0;
    for (const { count } of this.blocks.values()) size += count;
    return size;
  }

  /** The block for an entry, which is made when it is missing. Its records change. */
  blockFor(seq: number): PackedCodes {
    const n = Math.floor(seq / BLOCK_ENTRIES);
    const block = this.blocks.get(n) ?? new PackedCodes(n * BLOCK_ENTRIES, this.layout);
    this.blocks.set(n, block);
    this.#texts = undefined;
    return block;
  }

  find(seq: number): RecordPlace | undefined {
    const block = this.blocks.get(Math.floor(seq / BLOCK_ENTRIES));
    const index = block?.indexOf(seq) ?? -1;
    return block === undefined || index === -1 ? undefined : { block, index };
  }

  remove({ block, index }: RecordPlace): void {
    block.remove(index);
    this.#texts = undefined;
  }

  /** Row ids with the hashes of their texts, the earliest block first. */
  *entries(): Iterable<{ seq: number; text: number }> {
    for (const [, block] of [...this.blocks].toSorted(([a], [b]) => a - b)) {
      for (let index = 0; index < block.count; index++) {
        yield { seq: block.seqAt(index), text: block.textAt(index) };
      }
    }
  }

  /** An entry that may have this text. */
  withText(hash: number): number | undefined {
    this.#texts ??= new Map(Array.from(this.entries(), ({ seq, text }) => [text, seq]));
    return this.#texts.get(hash);
  }
}

/** A hash that fits in a number: 53 bits. */
export function hashNumber(text: string): number {
  const { high, low } = hashOf(text);
  return (high & 0x1f_ffff) * 2 ** 32 + (low >>> 0);
}
