import { Marked, type Token, type TokenizerExtension, type Tokens } from "marked";

/** A formula in a text or, with `display`, as a paragraph of its own. */
interface FormulaToken extends Tokens.Generic {
  type: "formula";
  tex: string;
  display: boolean;
}

// Formulas in brackets have a bound, because the end of one that has none would be looked for from each opening bracket.

/** `$$...$$` and `\[...\]`. */
const DISPLAY = /^ {0,3}(?:\$\$([^$]+?)\$\$|\\\[([^]{1,5000}?)\\\])(?:\n+|[ \t]*(?:\n|$))/;
/** `\(...\)`, `$$...$$` and `$...$`, but not prices. */
const INLINE =
  /^(?:\\\(([^]{1,1000}?)\\\)|\$\$([^$]+?)\$\$|\$(?!\s)((?:\\.|[^\\$\n])+?)(?<!\s)\$(?!\d))/;

function formula(
  level: "block" | "inline",
  { rule, start }: { rule: RegExp; start: RegExp },
  display: boolean,
): TokenizerExtension {
  return {
    name: "formula",
    level,
    // A paragraph or a text may end before a formula.
    start: (text) => start.exec(text)?.index,
    tokenizer: (text): FormulaToken | undefined => {
      const match = rule.exec(text);
      const tex = match?.slice(1).find((part) => part !== undefined);
      if (match === null || tex === undefined) return undefined;
      return { type: "formula", raw: match[0], tex: tex.trim(), display };
    },
  };
}

const marked = new Marked({
  extensions: [
    formula("block", { rule: DISPLAY, start: /(?<=\n) {0,3}(?:\$\$|\\\[)/ }, true),
    formula("inline", { rule: INLINE, start: /\$|\\\(/ }, false),
  ],
});

/** The longest text that is parsed. Parsing longer ones would block the page. */
const LONGEST = 60_000;
/** The parser takes quadratic time for a line, and for lines without a blank one between them; it recurses for quotes in quotes. */
const LONGEST_LINE = 5_000;
const MOST_LINES = 2_000;
const DEEP_QUOTE = /^[\s>]{100}/;
const FENCE = /^ {0,3}(?:```|~~~)/;

/** The blocks of a Markdown text, or null where parsing it would block the page: then it is shown as it is. */
export function lexer(text: string): (Token[] & { links: object }) | null {
  return text.length <= LONGEST && isQuick(text) ? marked.lexer(text) : null;
}

/**
 * True if the parser takes about as long for this text as for ordinary ones of its length. Code in fences is quick anyway.
 */
function isQuick(text: string): boolean {
  let lines = 0;
  let isCode = false;
  for (const line of text.split("\n")) {
    if (FENCE.test(line)) isCode = !isCode;
    if (isCode) continue;
    lines = line.trim() === "" ? 0 : lines + 1;
    if (lines > MOST_LINES || line.length > LONGEST_LINE || DEEP_QUOTE.test(line)) return false;
  }
  return true;
}
