// Finds items of Markdown lists that a reflow broke. A line of a paragraph that happens to begin with a bullet or a number
// becomes an item, and a line of an item that lost its indent looks like a paragraph.

const FENCE = /^\s*(?<fence>`{3,}|~{3,})/;
const ITEM = /^\s*(?<bullet>[-*+]|\d+[.)])\s/;
const INDENTED_CODE = /^ {4}/;
const OTHER_BLOCK = /^(?:#|\||>|<)/;

/**
 * @typedef {object} Fault
 * @property {number} line from 1
 * @property {string} advice
 */

/** @typedef {"none" | "paragraph" | "item"} Block */

/**
 * The broken items of a page, in their order. Bullets are hyphens, a list stands after an empty line, and each further line of an item is
 * indented.
 *
 * @param {string} page Markdown
 * @returns {Fault[]}
 */
export function brokenLists(page) {
  /** @type {Fault[]} */
  const faults = [];
  let fence = "";
  /** @type {Block} the block that the line before belongs to */
  let block = "none";
  for (const [index, line] of page.split("\n").entries()) {
    const mark = FENCE.exec(line)?.groups?.["fence"] ?? "";
    if (fence !== "" || mark !== "") {
      if (fence === "") fence = mark;
      else if (mark.startsWith(fence)) fence = "";
      block = "none";
      continue;
    }
    const advice = adviceFor(line, block);
    if (advice !== undefined) faults.push({ line: index + 1, advice });
    block = blockOf(line, block);
  }
  return faults;
}

/** @param {string} line @param {Block} before */
function adviceFor(line, before) {
  if (before === "none" && INDENTED_CODE.test(line)) return undefined;
  const bullet = ITEM.exec(line)?.groups?.["bullet"];
  if (bullet === "*" || bullet === "+") return "begin an item with a hyphen, and no other line";
  if (bullet !== undefined && before === "paragraph") {
    return "put an empty line before a list, or move the bullet or number to another place of its line";
  }
  if (bullet === undefined && before === "item" && /^\S/.test(line)) {
    return "indent the further lines of an item";
  }
  const prose = line.startsWith("|") ? "" : line.replaceAll(/`[^`]*`/g, "`code`");
  if (/[.:;?!] [-*+] (?=[A-Z*`[])/.test(prose)) return "begin each item on a line of its own";
  return undefined;
}

/** @param {string} line @param {Block} before @returns {Block} */
function blockOf(line, before) {
  if (line.trim() === "" || OTHER_BLOCK.test(line)) return "none";
  if (ITEM.test(line)) return "item";
  return before === "none" && /^\s/.test(line) ? "none" : before === "item" ? "item" : "paragraph";
}
