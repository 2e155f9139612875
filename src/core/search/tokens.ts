import { beginningOf } from "../cut.ts";
import { fold, normalize } from "./fold.ts";
import { detectLanguage } from "./detect-language.ts";
import { isLanguage, type Language, type TextLanguage } from "./languages.ts";
import { stemOf } from "./stem.ts";
import { type Word, wordsOf } from "./words.ts";

/**
 * The method that splits text into tokens. `porter`: words, found with other endings and as parts of longer ones, too;
 * the name is that of SQLite's FTS5. `unicode61`: whole words. `trigram`: every three consecutive characters, for parts
 * of words. All of them ignore case and accents.
 */
export type Tokenizer = "porter" | "unicode61" | "trigram";

export const TOKENIZERS = ["porter", "unicode61", "trigram"] as const satisfies Tokenizer[];

export interface Analysis {
  tokenizer: Tokenizer;
  /** Default `auto`. */
  language?: TextLanguage | undefined;
}

/**
 * A token of an index has a mark that says what it stands for: a word as it is written, a stem, or the language of the text. A stem
 * is written backwards, so that longer words that end with it begin with the same characters.
 */
const FORM = "\uf8f0";
const STEM = "\uf8f1";
const LANGUAGE = "\uf8f2";
/** Ends the marks. */
const AFTER_LANGUAGE = "\uf8f3";
/** Follows the mark of a language that was given, not found. */
const GIVEN = "g";
const FOUND = "f";

/** The most words of a query that are looked at; the ranking uses the rarest of them. */
const MOST_ASKED = 2_048;
/** Longer queries are cut: a question is short, and what is sent instead of one is a document. */
const LONGEST_QUERY = 100_000;

/** A shorter word, or one with a shorter stem, is a part of too many others. A syllable of Korean is a few letters. */
const SHORTEST_PART = [5, 4] as const;
const SHORTEST_KOREAN = [2, 2] as const;
const HANGUL = /^[가-힣]/;
/** Languages whose words are written together: one without its ending may begin a longer one. */
const COMPOUNDING: ReadonlySet<Language> = new Set(["da", "de", "fi", "hu", "nl", "no", "sv"]);
/** Numbers, and names with one: a longer number is another one. */
const NUMBER = /\p{N}/u;

/** A word of a query, as tokens of an index. */
export interface QueryWord {
  /** A text with one of them has the word, perhaps with another ending. */
  tokens: readonly string[];
  /** The word as it is written. */
  exact?: string;
  /** Beginnings of tokens of longer words that begin or end with it. */
  longer: readonly string[];
}

/** The number of each token in a text, and of all its tokens. */
export interface CountedText {
  counts: ReadonlyMap<string, number>;
  length: number;
}

/** The tokens of a text, in its order. */
export function tokensOf(text: string, { tokenizer, language = "auto" }: Analysis): string[] {
  if (tokenizer === "trigram") return trigrams(fold(text));
  const normalized = normalize(text);
  const spoken = language === "auto" ? detectLanguage(normalized) : language;
  if (tokenizer === "unicode61") {
    return Array.from(wordsOf(normalized, spoken), ({ form }) => form + FORM);
  }
  const tokens = [languageToken(language, spoken)];
  for (const word of wordsOf(normalized, spoken)) {
    if (!word.isPart) tokens.push(word.form + FORM);
    if (word.stemmed !== undefined) tokens.push(stemToken(stemOf(word.stemmed, spoken)));
  }
  return tokens;
}

export function countTokens(text: string, by: Analysis): CountedText {
  const tokens = tokensOf(text, by);
  const counts = new Map<string, number>();
  for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1);
  return { counts, length: tokens.length };
}

/** The range of the tokens that name languages, in the order of tokens. */
export const LANGUAGE_TOKENS = { from: LANGUAGE, before: AFTER_LANGUAGE } as const;

/** The tokens of languages by which texts with this setting are found, among those of an index. */
export function fittingLanguages(language: TextLanguage, tokens: readonly string[]): string[] {
  return tokens.filter((token) =>
    language === "auto"
      ? token.startsWith(LANGUAGE + FOUND)
      : token === languageToken(language, language),
  );
}

/** The words of a query, each once, for an index whose texts have the languages that these tokens name. */
export function queryWords(
  query: string,
  { tokenizer, language = "auto" }: Analysis,
  languageTokens: Iterable<string>,
): QueryWord[] {
  const text = beginningOf(query, LONGEST_QUERY);
  if (tokenizer === "trigram") return trigramWords(text);
  const languages = languagesOf(languageTokens, language);
  const normalized = normalize(text);
  const words = new Map<string, QueryWord>();
  for (const word of wordsOf(normalized, languages[0] ?? "en")) {
    const key = word.isPart ? stemToken(word.form) : word.form;
    if (words.has(key)) continue;
    words.set(key, tokenizer === "porter" ? queryWord(word, languages) : wholeWord(word));
    if (words.size === MOST_ASKED) break;
  }
  return [...words.values()];
}

function queryWord(word: Word, languages: readonly Language[]): QueryWord {
  const { form, stemmed, isPart } = word;
  const exact = form + FORM;
  if (stemmed === undefined) return { tokens: [exact], exact, longer: [] };
  const stems = new Set(languages.map((language) => stemOf(stemmed, language)));
  // An ending that looks like a particle of Korean may belong to the word.
  if (HANGUL.test(form)) stems.add(form);
  const tokens = Array.from(stems, stemToken);
  if (isPart) return { tokens, longer: [] };
  const compounding = languages.filter((language) => COMPOUNDING.has(language));
  const longer = longerTokens(form, {
    begins: compounding.map((language) => stemOf(stemmed, language)),
    ends: stems,
  });
  return { tokens: [...tokens, exact], exact, longer };
}

/** The word of a query as it is written, without case and accents; undefined for a part of a name. */
export function formOf({ exact }: QueryWord): string | undefined {
  return exact?.slice(0, -FORM.length);
}

function wholeWord({ form }: Word): QueryWord {
  return { tokens: [form + FORM], longer: [] };
}

function longerTokens(
  form: string,
  { begins, ends }: { begins: readonly string[]; ends: ReadonlySet<string> },
): string[] {
  const [word, stem] = HANGUL.test(form) ? SHORTEST_KOREAN : SHORTEST_PART;
  if (NUMBER.test(form) || form.length < word) return [];
  const beginnings = new Set([form, ...begins.filter(({ length }) => length >= word)]);
  const endings = [...ends].filter(({ length }) => length >= stem);
  return [...beginnings, ...endings.map((end) => STEM + reversed(end))];
}

/** The languages of an index, and the one that its texts are to have. */
function languagesOf(tokens: Iterable<string>, language: TextLanguage): Language[] {
  const known = Array.from(tokens, (token) => token.slice(2, -1)).filter(isLanguage);
  const all = new Set([...(language === "auto" ? [] : [language]), ...known]);
  return all.size === 0 ? ["en"] : [...all];
}

function languageToken(language: TextLanguage, spoken: Language): string {
  return `${LANGUAGE}${language === "auto" ? FOUND : GIVEN}${spoken}${LANGUAGE}`;
}

function stemToken(stem: string): string {
  return STEM + reversed(stem) + STEM;
}

function reversed(text: string): string {
  return Array.from(text).toReversed().join("");
}

function trigramWords(query: string): QueryWord[] {
  const words = fold(query).match(/[\p{L}\p{N}\p{Co}\p{Mn}\p{Mc}]+/gu) ?? [];
  const tokens = new Set<string>();
  for (const word of words) {
    for (const token of trigrams(word)) tokens.add(token);
    if (tokens.size >= MOST_ASKED) break;
  }
  return Array.from(tokens, (token) => ({ tokens: [token], longer: [] }));
}

function trigrams(text: string): string[] {
  const characters = Array.from(text);
  return characters.slice(2).map((_, index) => characters.slice(index, index + 3).join(""));
}
