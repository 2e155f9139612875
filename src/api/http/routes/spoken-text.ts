/** Models that write their thoughts into their text put them between these tags. */
const OPEN = "<think>";
const CLOSE = "</think>";

/** A text that arrives in pieces, without the thoughts in it. */
export class SpokenText {
  /** May be the beginning of a tag. */
  #unread = "";
  #thinks = false;
  /** White space after a thought belongs to it. */
  #afterThought = false;

  /** @returns what can be shown with this piece */
  add(piece: string): string {
    this.#unread += piece;
    let spoken = "";
    for (;;) {
      if (this.#thinks && !this.#endThought()) return spoken;
      if (this.#afterThought) {
        this.#unread = this.#unread.trimStart();
        this.#afterThought = this.#unread === "";
      }
      const start = this.#unread.indexOf(OPEN);
      if (start === -1) return spoken + this.#take(this.#unread.length - lengthOfTag(this.#unread));
      spoken += this.#take(start);
      this.#unread = this.#unread.slice(OPEN.length);
      this.#thinks = true;
    }
  }

  /** The rest of a text that is complete. */
  end(): string {
    return this.#thinks ? "" : this.#unread;
  }

  #endThought(): boolean {
    const end = this.#unread.indexOf(CLOSE);
    this.#thinks = end === -1;
    this.#afterThought = !this.#thinks;
    this.#unread = this.#unread.slice(this.#thinks ? 1 - CLOSE.length : end + CLOSE.length);
    return !this.#thinks;
  }

  #take(length: number): string {
    const taken = this.#unread.slice(0, length);
    this.#unread = this.#unread.slice(length);
    return taken;
  }
}

/** The characters at the end of a text that may be the beginning of a tag. */
function lengthOfTag(text: string): number {
  let length = OPEN.length - 1;
  while (!text.endsWith(OPEN.slice(0, length))) length--;
  return length;
}

export function withoutThoughts(text: string): string {
  const spoken = new SpokenText();
  return spoken.add(text) + spoken.end();
}
