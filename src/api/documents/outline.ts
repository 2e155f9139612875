import type { Block } from "./chunks.ts";

/** Longest heading that is kept, in characters. */
const LONGEST_HEADING = 200;

/** Collects the blocks of a document below its headings. */
export class Outline {
  readonly blocks: Block[] = [];
  readonly #page: number | null;
  /** By level: a heading of level 1 is first. Levels that are skipped are empty. */
  #headings: string[] = [];

  constructor(page: number | null) {
    this.#page = page;
  }

  heading(level: number, text: string): void {
    const above = Array.from({ length: level - 1 }, (_, index) => this.#headings[index] ?? "");
    this.#headings = [...above, text.slice(0, LONGEST_HEADING)];
  }

  text(text: string): void {
    if (text.trim() === "") return;
    this.blocks.push({ headings: this.#headings, page: this.#page, text });
  }
}
