import type { ChunkWriter } from "./chunks.ts";

/** Reads the text of a document window by window, and gives what it says to the writer of its chunks. */
export interface TextReader {
  write(window: string): void;
  /** There are no more windows. */
  end(): void;
  /** The title that the document itself has, known at its end. */
  readonly title: string | null;
}

/** A longer line is passed on before its end. */
const LONGEST_LINE = 65_536;

/** Text without a form of its own: blank lines end its blocks. */
export class PlainText implements TextReader {
  readonly title = null;
  readonly #writer: ChunkWriter;
  #line = "";
  /** True if the beginning of the line was passed on. */
  #hasBegun = false;

  constructor(writer: ChunkWriter) {
    this.#writer = writer;
  }

  write(window: string): void {
    const lines = (this.#line + window).split("\n");
    this.#line = lines.pop() ?? "";
    for (const line of lines) {
      if (!this.#hasBegun && line.trim() === "") this.#writer.end();
      else this.#writer.text(`${line}\n`);
      this.#hasBegun = false;
    }
    if (this.#line.length <= LONGEST_LINE) return;
    this.#writer.text(this.#line);
    this.#line = "";
    this.#hasBegun = true;
  }

  end(): void {
    this.#writer.text(this.#line);
  }
}
