const OPEN = "<think>";
const CLOSE = "</think>";

/**
 * Splits the reasoning between the marks at the beginning from the answer. A mark may still be incomplete at the end of the
 * text.
 *
 * @returns `thought`: undefined for a text without reasoning. `open`: whether more of it may follow
 */
export function thoughtIn(text: string): {
  thought: string | undefined;
  answer: string;
  open: boolean;
} {
  const start = text.trimStart();
  if (start !== "" && OPEN.startsWith(start)) return { thought: "", answer: "", open: true };
  if (!start.startsWith(OPEN)) return { thought: undefined, answer: text, open: false };
  const end = start.indexOf(CLOSE);
  if (end < 0) {
    return { thought: withoutBeginning(start.slice(OPEN.length), CLOSE), answer: "", open: true };
  }
  return {
    thought: start.slice(OPEN.length, end),
    answer: start.slice(end + CLOSE.length).trimStart(),
    open: false,
  };
}

/** The text without an incomplete mark at its end. */
function withoutBeginning(text: string, mark: string): string {
  for (let length = mark.length - 1; length > 0; length--) {
    if (text.endsWith(mark.slice(0, length))) return text.slice(0, -length);
  }
  return text;
}
