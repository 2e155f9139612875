import { Tokenizer } from "htmlparser2";
import { endOf } from "../../core/cut.ts";
import type { Outline } from "./outline.ts";
import type { TextReader } from "./text-reader.ts";

/** Their content is not text of the page. */
const SKIPPED = new Set(["script", "style", "template", "noscript", "svg", "math", "select"]);
/** They stand in a line of text; every other element ends a block. */
const INLINE = new Set(
  "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q rp rt ruby s samp small span strike strong sub sup time tt u var wbr".split(
    " ",
  ),
);
/** They are written on a line of their own within a block. */
const LINES: Readonly<Record<string, string>> = {
  br: "",
  li: "- ",
  tr: "",
  dt: "",
  dd: "  ",
  option: "",
};
const CELLS = new Set(["td", "th"]);
/** Lists and tables are one block with what they contain. */
const GROUPS = new Set(["ul", "ol", "dl", "table", "thead", "tbody", "tfoot", "pre"]);

/** Names of elements that are longer are none of the known ones. */
const LONGEST_NAME = 100;
/** A longer block is passed on in parts. */
const LONGEST_BLOCK = 8_192;

/**
 * The text of an HTML page with its headings. Only the names of elements are looked at, and no tree is made, so that
 * neither the depth nor the number of elements matters.
 */
export class HtmlText implements TextReader {
  readonly #outline: Outline;
  readonly #tokenizer = new Tokenizer({ xmlMode: false, decodeEntities: true }, this);
  /** The present window, after the end of the one before. */
  #source = "";
  /** The place of its beginning in the page. */
  #offset = 0;
  #parts: string[] = [];
  /** Characters of the parts. */
  #length = 0;
  /** The last character so far; a line break at the beginning. */
  #last = "\n";
  #isBlank = true;
  #name = "";
  /** The element whose content is skipped, and how many of its name are open. */
  #skipped = "";
  #depth = 0;
  /** Open lists and tables, whose elements are lines. */
  #groups = 0;
  #preformatted = 0;
  title: string | null = null;

  constructor(outline: Outline) {
    this.#outline = outline;
  }

  write(window: string): void {
    // Names may begin in the window before; text is reported in the window that has it.
    const kept = endOf(this.#source, LONGEST_NAME);
    this.#offset += this.#source.length - kept.length;
    this.#source = kept + window;
    this.#tokenizer.write(window);
  }

  end(): void {
    this.#tokenizer.end();
    this.#end();
  }

  whole(source: string): void {
    this.write(source);
    this.end();
  }

  ontext(start: number, end: number): void {
    this.#add(this.#slice(start, end));
  }

  ontextentity(codePoint: number): void {
    this.#add(String.fromCodePoint(codePoint));
  }

  oncdata(start: number, end: number, offset: number): void {
    this.#add(this.#slice(start, end - offset));
  }

  onopentagname(start: number, end: number): void {
    this.#name = this.#nameAt(start, end);
    const name = this.#name;
    if (this.#skipped !== "") {
      if (name === this.#skipped) this.#depth++;
    } else if (SKIPPED.has(name)) {
      this.#skipped = name;
      this.#depth = 1;
    } else {
      this.#open(name);
    }
  }

  onselfclosingtag(): void {
    if (this.#name === this.#skipped) this.#leaveSkipped();
  }

  onclosetag(start: number, end: number): void {
    const name = this.#nameAt(start, end);
    if (this.#skipped !== "") {
      if (name === this.#skipped) this.#leaveSkipped();
    } else if (name === "title") {
      this.title ??= oneLine(this.#take()) || null;
    } else if (isHeading(name)) {
      const heading = oneLine(this.#take());
      if (heading !== "") this.#outline.heading(Number(name[1]), heading);
    } else if (GROUPS.has(name)) {
      this.#groups = Math.max(0, this.#groups - 1);
      if (name === "pre") this.#preformatted = Math.max(0, this.#preformatted - 1);
      if (this.#groups === 0) this.#end();
    } else if (!INLINE.has(name) && this.#groups === 0) {
      this.#end();
    }
  }

  isInForeignContext(): boolean {
    return false;
  }

  onattribdata(): void {}
  onattribentity(): void {}
  onattribend(): void {}
  onattribname(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onopentagend(): void {}
  onend(): void {}

  #open(name: string): void {
    const line = LINES[name];
    if (GROUPS.has(name)) {
      if (this.#groups === 0) this.#end();
      this.#groups++;
      if (name === "pre") this.#preformatted++;
    } else if (line !== undefined) {
      this.#newLine(line);
    } else if (CELLS.has(name)) {
      if (this.#last !== "\n") this.#append(" | ");
    } else if (isHeading(name) || name === "title" || (!INLINE.has(name) && this.#groups === 0)) {
      // A heading ends whatever was left open before it.
      if (isHeading(name)) this.#groups = this.#preformatted = 0;
      this.#end();
    }
  }

  #newLine(start: string): void {
    if (!this.#isBlank && this.#last !== "\n") this.#append("\n");
    if (start !== "") this.#append(start);
  }

  #add(text: string): void {
    if (this.#skipped !== "") return;
    const words = this.#preformatted > 0 ? text : text.replaceAll(/\s+/g, " ");
    const added = this.#preformatted === 0 && /\s/.test(this.#last) ? words.trimStart() : words;
    if (added.trim() !== "") this.#isBlank = false;
    this.#append(added);
  }

  #append(text: string): void {
    if (text === "") return;
    this.#parts.push(text);
    this.#length += text.length;
    this.#last = text.slice(-1);
    if (this.#length <= LONGEST_BLOCK) return;
    this.#outline.text(this.#parts.join(""));
    this.#parts = [];
    this.#length = 0;
  }

  #take(): string {
    const text = this.#parts.join("");
    this.#parts = [];
    this.#length = 0;
    this.#last = "\n";
    this.#isBlank = true;
    return text;
  }

  #end(): void {
    this.#outline.text(this.#take());
    this.#outline.end();
  }

  #slice(start: number, end: number): string {
    return this.#source.slice(Math.max(0, start - this.#offset), end - this.#offset);
  }

  #nameAt(start: number, end: number): string {
    return end - start > LONGEST_NAME ? "" : this.#slice(start, end).toLowerCase();
  }

  #leaveSkipped(): void {
    this.#depth--;
    if (this.#depth === 0) this.#skipped = "";
  }
}

function isHeading(name: string): boolean {
  return /^h[1-6]$/.test(name);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
