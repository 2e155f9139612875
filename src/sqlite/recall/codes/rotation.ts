/** Enough for each dimension to depend on all others. */
const ROUNDS = 4;

/**
 * A random rotation of vectors, the same for all vectors with as many dimensions. Embeddings have a few strong and many weak
 * dimensions; rotated, all are equally strong, so that the sign of each says as much as that of any other. It takes
 * n log n steps: random signs, then a Hadamard transform of the first and of the last 2^m dimensions in turn.
 */
export class Rotation {
  readonly #dimensions: number;
  /** The largest power of two in them. */
  readonly #size: number;
  readonly #signs: readonly Float32Array[];

  constructor(dimensions: number) {
    this.#dimensions = dimensions;
    this.#size = 2 ** Math.floor(Math.log2(dimensions));
    const random = randomSigns(dimensions);
    this.#signs = Array.from({ length: ROUNDS }, () =>
      Float32Array.from({ length: dimensions }, random),
    );
  }

  apply(values: Float32Array): Float32Array {
    const rotated = values.slice();
    for (const [round, signs] of this.#signs.entries()) {
      for (let i = 0; i < rotated.length; i++) rotated[i] = (rotated[i] ?? 0) * (signs[i] ?? 1);
      hadamard(rotated, round % 2 === 0 ? 0 : this.#dimensions - this.#size, this.#size);
    }
    return rotated;
  }
}

/** Transforms `size` values from `from` on, which keeps their length as a vector. */
function hadamard(values: Float32Array, from: number, size: number): void {
  for (let half = 1; half < size; half *= 2) {
    for (let block = from; block < from + size; block += 2 * half) {
      for (let i = block; i < block + half; i++) {
        const a = values[i] ?? 0;
        const b = values[i + half] ?? 0;
        values[i] = a + b;
        values[i + half] = a - b;
      }
    }
  }
  const scale = 1 / Math.sqrt(size);
  for (let i = from; i < from + size; i++) values[i] = (values[i] ?? 0) * scale;
}

/** Signs by the generator mulberry32. They are part of what is stored: another sequence would not fit the codes. */
function randomSigns(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) & 1 ? 1 : -1;
  };
}
