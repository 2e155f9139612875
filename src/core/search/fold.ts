import { beginningOf } from "../cut.ts";

/** The most UTF-16 units. In production SQLite takes no text of more than 2 MB, neither to index nor as a query. */
const LONGEST_TEXT = 500_000;

/** Soft hyphens, zero-width characters and marks of direction: they are not seen, so words are the same without them. */
const INVISIBLE =
  /\u00ad|\u034f|\u061c|\u180e|[\u200b-\u200f]|[\u202a-\u202e]|[\u2060-\u2064]|[\ufe00-\ufe0f]|\ufeff/g;

/** Accents of Latin, Greek and Cyrillic letters, and the vowel signs that Hebrew and Arabic are mostly written without. */
const ACCENTS = /[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u064b-\u0655\u0670]/g;

/** Letters that Unicode does not decompose, as they are typed without them. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "d",
  ł: "l",
  þ: "th",
  ı: "i",
  ς: "σ",
  ـ: "",
};
const LETTER = new RegExp(`[${Object.keys(LETTERS).join("")}]`, "g");

/** The beginning of a text, with ligatures and letters of other widths as the usual ones, and without what is not seen. */
export function normalize(text: string): string {
  const visible = beginningOf(text, LONGEST_TEXT).normalize("NFKC").replace(INVISIBLE, "");
  return beginningOf(visible, LONGEST_TEXT);
}

/** A normalized text without case and accents. */
export function foldNormalized(text: string): string {
  return text
    .toLowerCase()
    .normalize("NFD")
    .replace(ACCENTS, "")
    .normalize("NFC")
    .replace(LETTER, (letter) => LETTERS[letter] ?? letter);
}

/** The text without case and accents; only the beginning of a very long text. */
export function fold(text: string): string {
  return beginningOf(foldNormalized(normalize(text)), LONGEST_TEXT);
}
