import { stemmer } from "stemmer";
import { fold } from "./fold.ts";

/**
 * How text is split into tokens, by the names of SQLite's FTS5. `porter`: English words by their stem.
 * `unicode61`: whole words. `trigram`: every three consecutive characters, for languages without spaces between
 * words and for parts of words. All of them ignore case and accents.
 */
export type Tokenizer = "porter" | "unicode61" | "trigram";

export const TOKENIZERS = ["porter", "unicode61", "trigram"] as const satisfies Tokenizer[];

/** The most tokens of a query; each costs a look-up. */
const MOST_TERMS = 512;

const WORDS = /[\p{L}\p{N}\p{Co}\p{Mn}\p{Mc}]+/gu;

/** The longest word that SQLite stems, in bytes of UTF-8. */
const LONGEST_STEMMED = 64;

const ASCII = /^[\0-\x7f]*$/;

/** The tokens of a text, in its order. */
export function tokensOf(text: string, tokenizer: Tokenizer): string[] {
  const folded = fold(text);
  if (tokenizer === "trigram") return trigrams(folded);
  const words = wordsOf(folded);
  return tokenizer === "porter" ? words.map(stem) : words;
}

/** How often each token occurs in a text, and how many tokens the text has in all. */
export interface CountedText {
  counts: ReadonlyMap<string, number>;
  length: number;
}

export function countTokens(text: string, by: Tokenizer): CountedText {
  const tokens = tokensOf(text, by);
  const counts = new Map<string, number>();
  for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1);
  return { counts, length: tokens.length };
}

/**
 * The words of a query by their token: whole words, or the trigrams of words. Each token once, the first ones of a long
 * text. They consist of letters and digits only, whatever the text contains.
 */
export function termsOf(query: string, tokenizer: Tokenizer): Map<string, string> {
  const terms = new Map<string, string>();
  for (const word of wordsOf(fold(query))) {
    for (const term of tokenizer === "trigram" ? trigrams(word) : [word]) {
      const token = tokenizer === "porter" ? stem(term) : term;
      if (!terms.has(token)) terms.set(token, term);
      if (terms.size === MOST_TERMS) return terms;
    }
  }
  return terms;
}

function wordsOf(folded: string): string[] {
  return folded.match(WORDS) ?? [];
}

/**
 * The stem of a word in lower case by Porter's algorithm, as SQLite's tokenizer `porter` computes it: it treats each
 * byte of other letters as a consonant.
 */
function stem(word: string): string {
  if (ASCII.test(word)) return word.length > LONGEST_STEMMED ? word : stemmer(word);
  const bytes = new TextEncoder().encode(word);
  if (bytes.length > LONGEST_STEMMED) return word;
  // Characters for private use have no lower case.
  const stemmed = stemmer(
    Array.from(bytes, (byte) => String.fromCharCode(byte < 0x80 ? byte : 0xe000 + byte)).join(""),
  );
  return new TextDecoder().decode(Uint8Array.from(stemmed, (char) => char.charCodeAt(0) & 0xff));
}

function trigrams(text: string): string[] {
  const characters = Array.from(text);
  return characters.slice(2).map((_, index) => characters.slice(index, index + 3).join(""));
}
