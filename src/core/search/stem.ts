import { foldNormalized } from "./fold.ts";
import type { Language } from "./languages.ts";
import type { Stemmers } from "./stemmers.ts";

let stemmers: Stemmers | undefined;

/** Imports the stemmers. They are a quarter of the code that a Worker would start with, and most isolates search no words. */
export async function loadStemmers(): Promise<void> {
  if (stemmers === undefined) provideStemmers((await import("./stemmers.ts")).STEMMERS);
}

/** The same for modules that are imported only where words are searched, and import the stemmers themselves. */
export function provideStemmers(imported: Stemmers): void {
  stemmers = imported;
}

/** Longer words are numbers in hexadecimal, addresses and the like, which have no endings. */
const LONGEST_STEMMED = 64;

/** A word is stemmed once as long as it is in here: in a language a few thousand words are most of a text. */
const MOST_KNOWN = 20_000;
const KNOWN = new Map<string, string>();

/**
 * The stem of a normalized word in lower case, without accents: those are a part of what tells endings apart. It is called inside
 * transactions, where nothing can be awaited, so the stemmers must be there.
 */
export function stemOf(word: string, language: Language): string {
  if (word.length > LONGEST_STEMMED) return foldNormalized(word);
  const key = `${language}${word}`;
  const existing = KNOWN.get(key);
  if (existing !== undefined) return existing;
  if (KNOWN.size >= MOST_KNOWN) KNOWN.clear();
  if (stemmers === undefined) throw new Error("The stemmers are not loaded: await loadStemmers()");
  const stem = foldNormalized(stemmers[language](word)) || foldNormalized(word);
  KNOWN.set(key, stem);
  return stem;
}
