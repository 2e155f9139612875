/** A text in pieces that ends before the first occurrence of any of some texts. */
export class EndingText {
  readonly #stops: readonly string[];
  /** The end of the pieces so far, which may be the beginning of an occurrence. */
  #held = "";
  /** True once a text has occurred: the rest adds nothing. */
  isCut = false;

  constructor(stops: readonly string[]) {
    this.#stops = stops;
  }

  /** The addition of a piece; what may begin an occurrence is held back. */
  add(piece: string): string {
    if (this.isCut || this.#stops.length === 0) return this.isCut ? "" : piece;
    const text = this.#held + piece;
    const begins = text.length - Math.max(...this.#stops.map((stop) => overlap(text, stop)));
    // A longer text that begins earlier may still follow.
    const index = this.#indexIn(text);
    if (index <= begins && index < text.length) return this.#cut(text);
    this.#held = text.slice(begins);
    return text.slice(0, begins);
  }

  /** Ends the text. @returns the part that was held back */
  end(): string {
    return this.#cut(this.#held);
  }

  #cut(text: string): string {
    const index = this.#indexIn(text);
    this.isCut ||= index < text.length;
    this.#held = "";
    return text.slice(0, index);
  }

  /** The index of the first occurrence; the length of the text if there is none. */
  #indexIn(text: string): number {
    const found = this.#stops.map((stop) => text.indexOf(stop)).filter((index) => index !== -1);
    return Math.min(text.length, ...found);
  }
}

/** The length of the longest beginning of `stop` with which the text ends. */
function overlap(text: string, stop: string): number {
  let length = Math.min(stop.length - 1, text.length);
  while (length > 0 && !text.endsWith(stop.slice(0, length))) length--;
  return length;
}
