/** A text with more open marks of emphasis has none: they are signs, such as in a table of numbers. */
const MOST_OPEN = 64;
/** A trimmed line that may turn out to be a marker: of a list, a heading, a quote, a rule, an underline or a fence. */
const MARKER =
  /^(?:[-=*_+]{1,3}|#{1,6}|>+|\d{1,9}[.)]?|`{1,2}|~{1,2}|(?:[-*+]|\d{1,9}[.)])\s+\[[ xX]?\]?)$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const DELIMITER_CELL = /^:?-+:?$/;
/** An opening bracket of a formula, and its closing one. */
const FORMULAS = [
  ["$$", "$$"],
  ["\\[", "\\]"],
  ["\\(", "\\)"],
] as const;

/**
 * Markdown that is still being written, so that it looks as it will when it is complete: what is open is closed, and what may
 * turn into something else is not shown yet.
 */
export function completedMarkdown(text: string): string {
  const lines = text.split("\n");
  const fence = openFence(lines);
  if (fence !== undefined) {
    const last = lines.at(-1) ?? "";
    // The beginning of the closing fence.
    return last !== "" && fence.startsWith(last.trim()) ? lines.slice(0, -1).join("\n") : text;
  }
  const isLineComplete = lines.length > 1 && lines.at(-1) === "";
  if (isLineComplete) lines.pop();
  const start = lines.findLastIndex((line) => line.trim() === "") + 1;
  const before = lines.slice(0, start);
  const block = heldBack(lines.slice(start), isLineComplete);
  if (block.length === 0) return before.join("\n");
  return [...before, closed(block.join("\n"))].join("\n");
}

/** The fence that is open at the end, or undefined. */
function openFence(lines: readonly string[]): string | undefined {
  let open: string | undefined;
  for (const line of lines) {
    const [, fence] = FENCE.exec(line) ?? [];
    if (open === undefined) open = fence;
    else if (fence?.startsWith(open) && line.trim() === fence) open = undefined;
  }
  return open;
}

/** A block without a last line that may turn out to be a marker, and without a table whose second line is not complete. */
function heldBack(lines: readonly string[], isLineComplete: boolean): string[] {
  const last = lines.at(-1) ?? "";
  const table = lines.findIndex((line) => line.trimStart().startsWith("|"));
  if (table >= 0) {
    const [, delimiter = "", ...rows] = lines.slice(table);
    const columns = (line: string): number => line.split("|").length;
    const isTable =
      isDelimiter(delimiter) && columns(delimiter) >= columns((lines[table] ?? "").trimEnd());
    if (!isTable && rows.length === 0) return lines.slice(0, table);
  }
  return MARKER.test(last.trim()) && !isLineComplete ? lines.slice(0, -1) : [...lines];
}

/** True if a line separates the head of a table from its rows. */
function isDelimiter(line: string): boolean {
  const cells = line.trim().split("|");
  const inside = cells.slice(cells[0] === "" ? 1 : 0, cells.at(-1) === "" ? -1 : undefined);
  return inside.length > 0 && inside.every((cell) => DELIMITER_CELL.test(cell.trim()));
}

/** A block whose open spans are closed. Links and images that are not complete yet are texts. */
function closed(block: string): string {
  let text = withoutOpenFormula(block);
  const code = openCode(text);
  if (code !== undefined) {
    const inside = text.slice(code.at + code.marks.length);
    return inside.trim() === ""
      ? text.slice(0, code.at)
      : `${text.slice(0, code.at)}${code.marks}${withoutEnd(inside, "`")}${code.marks}`;
  }
  text = withoutOpenLink(text);
  // The beginning of a closing or an opening mark, or of an entity.
  text = withoutOpenMark(text);
  const marks = openMarks(text);
  for (const mark of marks.toReversed()) {
    text = text.endsWith(mark) ? text.slice(0, -mark.length) : `${text.trimEnd()}${mark}`;
  }
  return text;
}

/** A text without any of the characters at its end. A regular expression takes quadratic time. */
function withoutEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

function withoutOpenMark(text: string): string {
  const unmarked = withoutEnd(text, "*_~");
  if (unmarked !== text) return unmarked;
  const entity = /&#?\w{0,8}$/.exec(text.slice(-10)) ?? /\\$/.exec(text.slice(-1));
  return entity === null ? text : text.slice(0, -entity[0].length);
}

function withoutOpenFormula(text: string): string {
  for (const [open, close] of FORMULAS) {
    const pieces = text.split(open);
    if (open === close) {
      if (pieces.length % 2 === 0) return text.slice(0, text.lastIndexOf(open));
      continue;
    }
    const at = text.lastIndexOf(open);
    if (at >= 0 && !text.includes(close, at)) return text.slice(0, at);
  }
  // `$`, unless it is a price or in code.
  const rest = text.replaceAll(/`[^`]*`|\$\$|\$(?!\s)[^$\n]+(?<!\s)\$(?!\d)/g, (whole) =>
    "x".repeat(whole.length),
  );
  const single = /(?<!\\)\$(?![\s\d])[^$\n`]{0,80}$/.exec(rest);
  return single ? text.slice(0, single.index) : text;
}

/** The code span that is open at the end. */
function openCode(text: string): { at: number; marks: string } | undefined {
  let open: { at: number; marks: string } | undefined;
  for (const { index, 0: marks } of text.matchAll(/`+/g)) {
    if (open === undefined) open = { at: index, marks };
    else if (marks === open.marks) open = undefined;
  }
  return open;
}

function withoutOpenLink(text: string): string {
  // `[text](address` without its end.
  const address = /(!?)\[([^[\]]*)\]\([^()\s]*(?:\s[^()]*)?$/.exec(text);
  if (address) return text.slice(0, address.index) + (address[1] === "!" ? "" : address[2]);
  // `[text` or `[text]`, which an address may follow.
  const label = /(!?)\[([^[\]]*)\]?$/.exec(text);
  if (label) return text.slice(0, label.index) + (label[1] === "!" ? "" : label[2]);
  return text.replace(/!$/, "");
}

/** The marks of emphasis that are open at the end, outermost first. */
function openMarks(text: string): string[] {
  const open: string[] = [];
  const plain = text.replaceAll(/`[^`]*`/g, (span) => "x".repeat(span.length));
  for (const { index, 0: run } of plain.matchAll(/\*+|_+|~+/g)) {
    const [letter = ""] = run;
    const [before, after] = [plain[index - 1] ?? " ", plain[index + run.length] ?? " "];
    let { length } = run;
    while (length > 0 && !/\s/.test(before)) {
      const closes = open.findLastIndex((mark) => mark.startsWith(letter) && mark.length <= length);
      if (closes < 0) break;
      length -= open[closes]?.length ?? 0;
      open.splice(closes);
    }
    const opens = !/\s/.test(after) && !(letter === "_" && /\w/.test(before));
    if (opens && length >= 2) open.push(letter.repeat(2));
    if (opens && length % 2 === 1) open.push(letter);
    if (open.length > MOST_OPEN) return [];
  }
  return open;
}
