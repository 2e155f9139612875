/** Python's whitespace (`str.isspace`). JavaScript's `\s` lacks the separators and has the byte order mark. */
// oxlint-disable-next-line no-control-regex -- the separators are control characters
const SPACE = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/u;

/** A text without whitespace at its end (Python's `rstrip`). Reads only the end of a long text. */
export function withoutTrailingSpace(text: string): string {
  let end = text.length;
  while (end > 0 && SPACE.test(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** A text on one line: a single blank for each stretch of whitespace, none at the ends. */
export function onOneLine(text: string): string {
  return text
    .split(SPACE)
    .filter((word) => word !== "")
    .join(" ");
}
