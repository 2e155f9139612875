import { beginningOf, endOf } from "../../core/cut.ts";
import type { ChunkWriter } from "./chunks.ts";

/** Longest heading that is kept, in characters. */
const LONGEST_HEADING = 200;
const LONGEST_PATH = 500;

/** Gives the text of a document to the writer of its chunks, below its headings. */
export class Outline {
  readonly #writer: ChunkWriter;
  /** By level: a heading of level 1 is first. Levels that are skipped are empty. */
  #headings: string[] = [];

  constructor(writer: ChunkWriter) {
    this.#writer = writer;
  }

  heading(level: number, text: string): void {
    const above = Array.from({ length: level - 1 }, (_, index) => this.#headings[index] ?? "");
    this.#headings = [...above, beginningOf(text, LONGEST_HEADING)];
    this.#writer.section({ heading: headingPath(this.#headings), page: null });
  }

  /** More text of the present block. */
  text(text: string): void {
    this.#writer.text(text);
  }

  /** Ends the present block. */
  end(): void {
    this.#writer.end();
  }
}

function headingPath(headings: readonly string[]): string | null {
  const named = headings.filter((heading) => heading !== "");
  if (named.length === 0) return null;
  const path = named.join(" > ");
  return path.length <= LONGEST_PATH ? path : `…${endOf(path, LONGEST_PATH)}`;
}
