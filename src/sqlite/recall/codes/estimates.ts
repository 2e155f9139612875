import type { PackedCodes } from "./code-block.ts";
import type { CodeLayout, CodeQuery } from "./vector-code.ts";

/** An entry with the estimate of its similarity. */
export interface Estimate {
  seq: number;
  similarity: number;
}

/** Candidates that are sorted first; each time four times as many as before. */
const FIRST_SORTED = 512;
/** Steps of similarity, by which candidates are found before they are sorted. */
const STEPS = 4096;
/** The value of an entry that is not searched. */
const LEFT_OUT = -2;

/** The estimated similarities of all entries of a space to a query, the most similar first. */
export class Estimates {
  readonly #seqs: Float64Array;
  readonly #values: Float32Array;
  /** The standard deviation of an estimate. */
  readonly error: number;

  /** @param group null for all */
  constructor(
    query: CodeQuery,
    layout: CodeLayout,
    blocks: readonly PackedCodes[],
    group: number | null,
  ) {
    const size = blocks.reduce((sum, { count }) => sum + count, 0);
    this.error = query.error;
    this.#seqs = new Float64Array(size);
    this.#values = new Float32Array(size);
    let at = 0;
    for (const block of blocks) {
      query.estimate(block.bytes, block.count, layout, this.#values, at);
      for (let index = 0; index < block.count; index++) {
        this.#seqs[at + index] = block.seqAt(index);
        const of = block.groupAt(index);
        if (group !== null && of !== 0 && of !== group) this.#values[at + index] = LEFT_OUT;
      }
      at += block.count;
    }
  }

  /** In batches, the best first. */
  *sorted(): Generator<Estimate[], void, void> {
    const counts = new Uint32Array(STEPS);
    for (const value of this.#values) {
      const step = stepOf(value);
      if (step >= 0) counts[step] = (counts[step] ?? 0) + 1;
    }
    for (let upper = STEPS, most = FIRST_SORTED; upper > 0; most *= 4) {
      let lower = upper;
      for (let count = 0; lower > 0 && count < most;) count += counts[--lower] ?? 0;
      const batch: Estimate[] = [];
      // Not by entries(), which makes an object for each.
      for (let index = 0; index < this.#values.length; index++) {
        const similarity = this.#values[index] as number;
        const step = stepOf(similarity);
        if (step >= lower && step < upper)
          batch.push({ seq: this.#seqs[index] as number, similarity });
      }
      if (batch.length > 0) yield batch.toSorted((a, b) => b.similarity - a.similarity);
      upper = lower;
    }
  }
}

/** Negative for an entry that is left out. Estimates may lie a little beyond -1 and 1. */
function stepOf(similarity: number): number {
  if (similarity === LEFT_OUT) return -1;
  const step = Math.floor(((similarity + 1) / 2) * STEPS);
  return Math.min(STEPS - 1, Math.max(0, step));
}
