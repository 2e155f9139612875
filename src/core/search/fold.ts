// A module without the stemmer: an object needs only this to write its index.

/** The most UTF-16 units. In production SQLite takes no text of more than 2 MB, neither to index nor as a query. */
const LONGEST_TEXT = 500_000;

const ACCENTS = /[\u0300-\u036f]/g;

/** The text without case and accents; only the beginning of a very long text. */
export function fold(text: string): string {
  const folded = text
    .slice(0, LONGEST_TEXT)
    .toLowerCase()
    .normalize("NFD")
    .replace(ACCENTS, "")
    .normalize("NFC");
  return folded.slice(0, LONGEST_TEXT);
}
