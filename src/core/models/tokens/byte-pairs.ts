/** A tokenizer's vocabulary as `js-tiktoken/ranks` has it. */
export interface Vocabulary {
  pat_str: string;
  /** Lines of `! offset token token ...`; a token is base64, its rank is the offset plus its place. */
  bpe_ranks: string;
}

/** Longest piece that is merged at once: merging is quadratic, and no language has words of this length. */
const LONGEST_PIECE = 500;

/**
 * Counts the tokens of texts by byte pair encoding with the vocabulary of `js-tiktoken`. The package's own encoder needs
 * seconds for a few kilobytes without spaces, and several times the memory.
 */
export class BytePairCounter {
  readonly #pattern: RegExp;
  /** By the token's bytes, one per character. */
  readonly #ranks = new Map<string, number>();

  constructor({ pat_str, bpe_ranks }: Vocabulary) {
    this.#pattern = new RegExp(pat_str, "gu");
    for (const line of bpe_ranks.split("\n")) {
      const [, offset, ...tokens] = line.split(" ");
      for (const [index, token] of tokens.entries()) {
        this.#ranks.set(atob(token), Number(offset) + index);
      }
    }
  }

  /** Names of control tokens count as plain text: user input may contain them. */
  count(text: string): number {
    let count = 0;
    for (const [piece] of text.matchAll(this.#pattern)) count += this.#pieceTokens(asBytes(piece));
    return count;
  }

  #pieceTokens(bytes: string): number {
    if (this.#ranks.has(bytes)) return 1;
    let count = 0;
    for (let start = 0; start < bytes.length; start += LONGEST_PIECE) {
      count += this.#merged(bytes.slice(start, start + LONGEST_PIECE));
    }
    return count;
  }

  /** The number of parts left after neighbours are merged, lowest rank first, until no two form a token. */
  #merged(bytes: string): number {
    const starts = Array.from({ length: bytes.length + 1 }, (_, index) => index);
    const rankAt = (index: number): number =>
      this.#ranks.get(bytes.slice(starts[index], starts[index + 2])) ?? Infinity;
    const ranks = Array.from({ length: bytes.length - 1 }, (_, index) => rankAt(index));
    for (;;) {
      const best = lowest(ranks);
      if (best === undefined) return starts.length - 1;
      starts.splice(best + 1, 1);
      ranks.splice(best, 1);
      if (best < ranks.length) ranks[best] = rankAt(best);
      if (best > 0) ranks[best - 1] = rankAt(best - 1);
    }
  }
}

function lowest(ranks: readonly number[]): number | undefined {
  let best: number | undefined;
  let rank = Infinity;
  for (let index = 0; index < ranks.length; index++) {
    const candidate = ranks[index] as number;
    if (candidate < rank) {
      rank = candidate;
      best = index;
    }
  }
  return best;
}

const encoder = new TextEncoder();

function asBytes(text: string): string {
  let bytes = "";
  for (const byte of encoder.encode(text)) bytes += String.fromCharCode(byte);
  return bytes;
}
