import { Rotation } from "./rotation.ts";

/** The values of a byte. */
const BYTES = 256;

/** One bit for each dimension of a rotated unit vector, and what the signs have to be multiplied by to estimate products. */
export interface VectorCode {
  bits: Uint8Array;
  factor: number;
}

/** Codes of vectors with one number of dimensions. */
export class VectorCoder {
  readonly dimensions: number;
  /** The length of a code. A multiple of four, so that numbers beside it are aligned. */
  readonly bytes: number;
  readonly #rotation: Rotation;

  constructor(dimensions: number) {
    this.dimensions = dimensions;
    this.bytes = Math.ceil(dimensions / 32) * 4;
    this.#rotation = new Rotation(dimensions);
  }

  /** @param unit a vector of length 1 */
  encode(unit: Float32Array): VectorCode {
    const rotated = this.#rotation.apply(unit);
    const bits = new Uint8Array(this.bytes);
    let sum = 0;
    for (let i = 0; i < rotated.length; i++) {
      const value = rotated[i] ?? 0;
      sum += Math.abs(value);
      if (value > 0) bits[i >> 3] = (bits[i >> 3] ?? 0) | (1 << (i & 7));
    }
    return { bits, factor: 1 / sum };
  }

  /** @param unit a vector of length 1 */
  query(unit: Float32Array): CodeQuery {
    return new CodeQuery(this.#rotation.apply(unit), this.bytes);
  }
}

/** The layout of codes in the bytes of a block: records of one length, each with a factor and a code. */
export interface CodeLayout {
  /** Bytes per record, a multiple of four. */
  record: number;
  /** Position of the factor in a record, a multiple of four. */
  factor: number;
  /** Position of the code in a record. */
  code: number;
}

/**
 * Estimates the cosine similarity of a query to vectors by their codes. The query keeps its full precision: a table has the
 * sum of its dimensions for each value of each byte of a code.
 */
export class CodeQuery {
  readonly #table: Float32Array;
  readonly #bytes: number;
  /** The standard deviation of an estimate. */
  readonly error: number;

  constructor(rotated: Float32Array, bytes: number) {
    this.#bytes = bytes;
    // The angle between a rotated vector and its signs hardly varies: its cosine is about the root of 2 / pi.
    this.error = Math.sqrt((Math.PI / 2 - 1) / Math.max(1, rotated.length - 1));
    this.#table = new Float32Array(bytes * BYTES);
    for (let byte = 0; byte < bytes; byte++) {
      const from = byte * BYTES;
      let none = 0;
      for (let bit = 0; bit < 8; bit++) none -= rotated[byte * 8 + bit] ?? 0;
      this.#table[from] = none;
      for (let value = 1; value < BYTES; value++) {
        const without = value & (value - 1);
        const bit = 31 - Math.clz32(value ^ without);
        const dimension = rotated[byte * 8 + bit] ?? 0;
        this.#table[from + value] = (this.#table[from + without] ?? 0) + 2 * dimension;
      }
    }
  }

  /** Writes the estimates of a block's records to `estimates`, from `at` on. */
  estimate(
    block: Uint8Array,
    count: number,
    { record, factor, code }: CodeLayout,
    estimates: Float32Array,
    at: number,
  ): void {
    const table = this.#table;
    const bytes = this.#bytes;
    const factors = new Float32Array(block.buffer, block.byteOffset, block.byteLength >> 2);
    for (let n = 0; n < count; n++) {
      const from = n * record + code;
      let [a, b, c, d] = [0, 0, 0, 0];
      for (let i = 0; i < bytes; i += 4) {
        const row = i * BYTES;
        a += table[row + (block[from + i] as number)] as number;
        b += table[row + BYTES + (block[from + i + 1] as number)] as number;
        c += table[row + 2 * BYTES + (block[from + i + 2] as number)] as number;
        d += table[row + 3 * BYTES + (block[from + i + 3] as number)] as number;
      }
      estimates[at + n] = (a + b + c + d) * (factors[(n * record + factor) >> 2] as number);
    }
  }
}

/** A vector scaled to the length 1; undefined for one without a direction. */
export function unitVector(values: readonly number[]): Float32Array | undefined {
  let square = 0;
  for (const value of values) square += value * value;
  const length = Math.sqrt(square);
  if (!(length > 0) || !Number.isFinite(length)) return undefined;
  return Float32Array.from(values, (value) => value / length);
}

export function product(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}
