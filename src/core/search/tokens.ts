import { stem } from "./porter.ts";

/**
 * How text becomes what is looked for, by the names of SQLite's FTS5. `porter`: English words by their stem.
 * `unicode61`: words as they stand. `trigram`: every three characters in a row, for languages without spaces between
 * words and for parts of words. None of them cares about case or accents.
 */
export type Tokenizer = "porter" | "unicode61" | "trigram";

export const TOKENIZERS = ["porter", "unicode61", "trigram"] as const satisfies Tokenizer[];

/** Each costs a look-up. */
const MOST_TERMS = 128;

/** UTF-16 units. In production SQLite takes no text of more than 2 MB, neither to index nor as a query. */
const LONGEST_TEXT = 500_000;

const WORDS = /[\p{L}\p{N}\p{Co}\p{Mn}\p{Mc}]+/gu;
const ACCENTS = /[\u0300-\u036f]/g;

/** The tokens of a text, in its order. */
export function tokensOf(text: string, tokenizer: Tokenizer): string[] {
  const folded = fold(text);
  if (tokenizer === "trigram") return trigrams(folded);
  const words = wordsOf(folded);
  return tokenizer === "porter" ? words.map(stem) : words;
}

/**
 * What a text asks for, by its token: its words, or the trigrams of its words. Each once, the first ones of a long text.
 * They are letters and digits only, whatever the text holds.
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

/** Without case and accents; of a very long text the beginning. */
export function fold(text: string): string {
  const folded = text
    .slice(0, LONGEST_TEXT)
    .toLowerCase()
    .normalize("NFD")
    .replace(ACCENTS, "")
    .normalize("NFC");
  return folded.slice(0, LONGEST_TEXT);
}

function wordsOf(folded: string): string[] {
  return folded.match(WORDS) ?? [];
}

function trigrams(text: string): string[] {
  const characters = Array.from(text);
  return characters.slice(2).map((_, index) => characters.slice(index, index + 3).join(""));
}
