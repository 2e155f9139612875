import { beginningOf } from "../../core/cut.ts";
import MarkdownIt from "markdown-it";
import type { Token } from "markdown-it";
import { HtmlText } from "./html.ts";
import type { Outline } from "./outline.ts";
import type { TextReader } from "./text-reader.ts";

/** Quotes and lists that are nested deeper are one block of text. */
const DEEPEST = 20;
const LONGEST_HEADING = 500;
const FRONT_MATTER = /^---[ \t]*\n([\s\S]*?)\n---[ \t]*(\n|$)/;
/** The most characters of a block that is parsed whole. The parser holds up to a hundred bytes for each. */
const LONGEST_BLOCK = 32_768;
/** Lines of the longest definition of a link, which makes no block, and may continue in the next window. */
const DEFINITION_LINES = 4;

/**
 * The blocks of a Markdown document (CommonMark with tables) as they are written, with their headings. The last block of a window
 * is held, because it may not have ended; one that is too long for that is passed on in parts.
 */
export class MarkdownText implements TextReader {
  readonly #outline: Outline;
  readonly #markdown = new MarkdownIt("commonmark", { maxNesting: DEEPEST }).enable("table");
  #text = "";
  #hasBegun = false;
  /** Opens code of which a part was passed on. */
  #fence: string | undefined;
  /** True if the beginning of the present line was passed on. */
  #isInLine = false;
  title: string | null = null;

  constructor(outline: Outline) {
    this.#outline = outline;
  }

  write(window: string): void {
    this.#read(this.#text + window, { isLast: false });
  }

  end(): void {
    this.#read(this.#text, { isLast: true });
    this.#outline.end();
  }

  #read(input: string, { isLast }: { isLast: boolean }): void {
    // The other half of a line break may follow.
    const half = !isLast && input.endsWith("\r") ? "\r" : "";
    let text = input.slice(0, input.length - half.length).replaceAll(/\r\n?/g, "\n");
    if (this.#isInLine) text = this.#restOfLine(text);
    if (!this.#hasBegun && text !== "") text = this.#afterMatter(text);
    const end = isLast ? text.length : text.lastIndexOf("\n") + 1;
    const isLongLine = !isLast && text.length - end > LONGEST_BLOCK;
    let rest = text.slice(this.#blocks(text.slice(0, end), { isLast, isLongLine }));
    if (isLongLine) {
      this.#outline.text(rest);
      this.#isInLine = true;
      rest = "";
    }
    this.#text = rest + half;
  }

  #restOfLine(text: string): string {
    const end = text.indexOf("\n") + 1;
    this.#isInLine = end === 0;
    const line = this.#isInLine ? text : text.slice(0, end);
    this.#outline.text(line);
    return text.slice(line.length);
  }

  #afterMatter(text: string): string {
    this.#hasBegun = true;
    const [matter = "", fields = ""] = FRONT_MATTER.exec(text) ?? [];
    this.title = titleIn(fields);
    return text.slice(matter.length);
  }

  /**
   * @param text whole lines
   * @returns how many characters of it need not be read again
   */
  #blocks(text: string, { isLast, isLongLine }: { isLast: boolean; isLongLine: boolean }): number {
    if (text === "") return 0;
    const opening = this.#fence === undefined ? "" : `${this.#fence}\n`;
    this.#fence = undefined;
    const tokens: Token[] = [];
    // Only blocks: what is inside of a paragraph does not matter, and costs most.
    this.#markdown.block.parse(opening + text, this.#markdown, {}, tokens);
    const lines = (opening + text).split("\n");
    const first = opening === "" ? 0 : 1;
    const offsetOf = (line: number): number =>
      lines.slice(first, line).reduce((sum, { length }) => sum + length + 1, 0);
    const blocks = tokens.flatMap(({ level, nesting, map }, index) =>
      level === 0 && nesting >= 0 && map !== null ? [{ index, map }] : [],
    );
    if (blocks.length === 0 && !isLast)
      return offsetOf(Math.max(first, lines.length - 1 - DEFINITION_LINES));
    const isTooLong = isLongLine || (blocks.length === 1 && text.length > LONGEST_BLOCK);
    for (const [n, { index, map }] of blocks.entries()) {
      const [from, to] = [Math.max(first, map[0]), map[1]];
      const mayGoOn = !isLast && n === blocks.length - 1;
      if (mayGoOn && !isTooLong) return offsetOf(from);
      const token = tokens[index] as Token;
      if (token.type === "heading_open") {
        this.#heading(Number(token.tag[1]), tokens[index + 1]?.content ?? "");
      } else if (token.type === "html_block") {
        new HtmlText(this.#outline).whole(token.content);
      } else {
        this.#outline.text(lines.slice(from, mayGoOn ? undefined : to).join("\n"));
        if (!mayGoOn) this.#outline.end();
        else if (isOpenCode(token, map)) this.#fence = token.markup;
      }
    }
    return text.length;
  }

  #heading(level: number, markup: string): void {
    const heading = plainText(this.#markdown, markup);
    if (heading === "") return;
    this.#outline.heading(level, heading);
    this.title ??= heading;
  }
}

/** True if its last line does not end it. */
function isOpenCode({ type, content }: Token, [from, to]: readonly [number, number]): boolean {
  return type === "fence" && to - from < content.split("\n").length + 1;
}

/** The title in the fields before a document. */
function titleIn(fields: string): string | null {
  const [, title = ""] = /^title:(.*)$/m.exec(fields) ?? [];
  return (
    title
      .trim()
      .replaceAll(/^["']|["']$/g, "")
      .trim() || null
  );
}

/** A heading without its markup. */
function plainText(markdown: InstanceType<typeof MarkdownIt>, heading: string): string {
  const [inline] = markdown.parseInline(beginningOf(heading, LONGEST_HEADING), {});
  return (inline?.children ?? [])
    .map(({ type, content }) =>
      type === "softbreak" ? " " : type === "html_inline" ? "" : content,
    )
    .join("")
    .trim();
}
