import { Marked, type Token, type TokenizerExtension, type Tokens } from "marked";

/** A formula in a text or, with `display`, as a paragraph of its own. */
interface FormulaToken extends Tokens.Generic {
  type: "formula";
  tex: string;
  display: boolean;
}

/** `$$...$$` and `\[...\]`. */
const DISPLAY = /^ {0,3}(?:\$\$([^$]+?)\$\$|\\\[([^]+?)\\\])(?:\n+|[ \t]*(?:\n|$))/;
/** `\(...\)`, `$$...$$` and `$...$`, but not prices. */
const INLINE = /^(?:\\\(([^]+?)\\\)|\$\$([^$]+?)\$\$|\$(?!\s)((?:\\.|[^\\$\n])+?)(?<!\s)\$(?!\d))/;

function formula(
  level: "block" | "inline",
  { rule, start }: { rule: RegExp; start: RegExp },
  display: boolean,
): TokenizerExtension {
  return {
    name: "formula",
    level,
    // Where a paragraph or a text may end before a formula.
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

/** The blocks of a Markdown text. */
export function lexer(text: string): Token[] & { links: object } {
  return marked.lexer(text);
}
