import MarkdownIt from "markdown-it";
import type { Token } from "markdown-it";
import type { Block } from "./chunks.ts";
import { htmlBlocks } from "./html.ts";
import { Outline } from "./outline.ts";

/** Quotes and lists that are nested deeper are one block of text. */
const DEEPEST = 20;
const LONGEST_HEADING = 500;
const FRONT_MATTER = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(\r?\n|$)/;

/** The blocks of a Markdown document (CommonMark with tables) as they are written, with their headings. */
export function markdownBlocks(source: string): { title: string | null; blocks: Block[] } {
  const [matter = "", fields = ""] = FRONT_MATTER.exec(source) ?? [];
  const text = source.slice(matter.length);
  const markdown = new MarkdownIt("commonmark", { maxNesting: DEEPEST }).enable("table");
  const tokens: Token[] = [];
  // Only blocks: what is inside of a paragraph does not matter, and costs most.
  markdown.block.parse(text.replaceAll(/\r\n?/g, "\n"), markdown, {}, tokens);
  const lines = text.split(/\r\n?|\n/);
  const outline = new Outline(null);
  let title = titleIn(fields);
  for (const [index, token] of tokens.entries()) {
    if (token.level !== 0 || token.nesting < 0 || token.map === null) continue;
    if (token.type === "heading_open") {
      const heading = plainText(markdown, tokens[index + 1]?.content ?? "");
      if (heading === "") continue;
      outline.heading(Number(token.tag[1]), heading);
      title ??= heading;
    } else if (token.type === "html_block") {
      for (const block of htmlBlocks(token.content).blocks) outline.text(block.text);
    } else {
      outline.text(lines.slice(...token.map).join("\n"));
    }
  }
  return { title, blocks: outline.blocks };
}

/** The title in the fields before a document. */
function titleIn(fields: string): string | null {
  const [, title = ""] = /^title:[ \t]*(.*)$/m.exec(fields) ?? [];
  return title.replaceAll(/^["']|["']$/g, "").trim() || null;
}

/** A heading without its markup. */
function plainText(markdown: InstanceType<typeof MarkdownIt>, heading: string): string {
  const [inline] = markdown.parseInline(heading.slice(0, LONGEST_HEADING), {});
  return (inline?.children ?? [])
    .map(({ type, content }) =>
      type === "softbreak" ? " " : type === "html_inline" ? "" : content,
    )
    .join("")
    .trim();
}
