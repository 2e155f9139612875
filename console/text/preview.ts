import { visibleName } from "./foreign.ts";
import { thoughtIn } from "./thought.ts";

/** The marks at the beginning of a line: quotes, headings, items of lists, tasks, the edges of tables. */
const LINE_START = /^(?:(?:>|#{1,6}(?=\s|$)|[-*+](?=\s)|\d{1,9}[.)](?=\s)|\[[ xX]\](?=\s)|\|)\s*)+/;
const LINKS = /!?\[([^\]\n]{0,500})\]\([^)\s]{0,2000}(?:\s"[^"\n]{0,500}")?\)/g;
/** Emphasis around words; the end may be cut off. */
const STRONG = /(?<![\w*])\*\*(?=\S)|(?<=\S)\*\*(?![\w*])|(?<!\w)__(?=\S)|(?<=\S)__(?!\w)/g;
const WEAK = /(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![\w*])|(?<!\w)_(?=[^\s_])|(?<=[^\s_])_(?!\w)/g;
const OTHERS = /~~(?=\S)|(?<=\S)~~|`+/g;

/** The words of a text in Markdown on one line, for lists. Reasoning before an answer is left out. */
export function preview(text: string): string {
  const { thought, answer } = thoughtIn(text);
  const lines = (answer === "" ? (thought ?? "") : answer).split("\n").map((line) => line.trim());
  const words = lines
    .filter((line) => !isMark(line))
    .map((line) => (line.endsWith("|") ? line.slice(0, -1) : line).replace(LINE_START, ""))
    .join(" ")
    .replaceAll(LINKS, "$1")
    .replaceAll(STRONG, "")
    .replaceAll(WEAK, "")
    .replaceAll(OTHERS, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  return visibleName(words);
}

/** True for a line without words: a fence of code, a rule, or the line below the head of a table. */
function isMark(line: string): boolean {
  if (line.startsWith("```") || line.startsWith("~~~")) return true;
  return /^[|:\s-]+$/.test(line) || /^[*_=\s]{3,}$/.test(line);
}
