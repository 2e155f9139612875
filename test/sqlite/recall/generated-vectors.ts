/** Vectors that resemble embeddings of texts. */
export interface GeneratedVectors {
  /** The next vector. */
  next(): number[];
}

/**
 * Embeddings of texts are not uniform noise: texts of one subject lie close together, and a few directions carry most of
 * the variance. So each vector is the centre of one of `clusters` plus a deviation, and both are normally distributed with a
 * spectrum that falls: the standard deviation of dimension i is the root of 1 / i. Equal numbers give equal vectors.
 */
export function generatedVectors({
  dimensions,
  clusters,
  spread = 0.7,
  seed = 1,
  drawn = 1,
}: {
  dimensions: number;
  clusters: number;
  /** The deviation relative to the distances between centres. */
  spread?: number;
  seed?: number;
  /** Another number draws other vectors from the same clusters, for example queries. */
  drawn?: number;
}): GeneratedVectors {
  let random = uniform(seed);
  const normal = (): number =>
    Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const draw = (): number[] =>
    Array.from({ length: dimensions }, (_, index) => normal() / Math.sqrt(index + 1));
  const centres = Array.from({ length: clusters }, draw);
  random = uniform(seed * 1_000 + drawn);
  return {
    next() {
      const centre = centres[Math.floor(random() * clusters)] ?? [];
      const deviation = draw();
      return centre.map((value, index) => value + spread * (deviation[index] ?? 0));
    },
  };
}

/** Numbers from 0 to 1 by the generator mulberry32. */
export function uniform(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
