/** A text without any `character` at its end. A regular expression such as `/x+$/` takes quadratic time. */
export function trimEnd(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text.charAt(end - 1) === character) end--;
  return text.slice(0, end);
}
