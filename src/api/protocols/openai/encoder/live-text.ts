const OPEN = "<think>";
const CLOSE = "</think>";

/**
 * A text that is shown while it streams. What was shown cannot be taken back: when the model is called again, the new text
 * is shown from where it goes beyond the old one.
 */
export class LiveText {
  readonly id: string;
  readonly source: string;
  /** What was shown. */
  shown = "";
  /** Whether the text is another one than was shown. */
  changed = false;
  /** The beginning of the text while it may still become a tag; null once that is decided. */
  #head: string | null = "";
  #thinking = false;
  /** The part of what was shown that the present attempt has not reached. */
  #ahead = "";
  #thought = "";

  constructor(id: string, source: string) {
    this.id = id;
    this.source = source;
  }

  /** The model is called again. @param repeats whether the new text may be shown as the rest of the old one */
  restart(repeats: boolean): void {
    this.changed ||= !repeats && this.shown !== "";
    this.#head = "";
    this.#thinking = false;
    this.#ahead = this.shown;
  }

  /** The reasoning between tags that the last pieces completed, once. */
  takeThought(): string {
    const thought = this.#thought;
    this.#thought = "";
    return thought;
  }

  /** What a piece adds to what is shown. Reasoning between tags is not. */
  add(piece: string): string {
    const answer = this.#withoutThought(piece);
    if (answer === "" || this.changed) return "";
    return this.#show(answer);
  }

  /** What the whole text adds to what is shown. */
  complete(text: string): string {
    this.changed ||= !text.startsWith(this.shown);
    if (this.changed) return "";
    const rest = text.slice(this.shown.length);
    this.shown = text;
    return rest;
  }

  #show(answer: string): string {
    if (this.#ahead.startsWith(answer)) {
      this.#ahead = this.#ahead.slice(answer.length);
      return "";
    }
    if (!answer.startsWith(this.#ahead)) {
      this.changed = true;
      return "";
    }
    const rest = answer.slice(this.#ahead.length);
    this.#ahead = "";
    this.shown += rest;
    return rest;
  }

  #withoutThought(piece: string): string {
    if (this.#head === null) return piece;
    this.#head += piece;
    if (!this.#thinking) {
      if (this.#head.length < OPEN.length && OPEN.startsWith(this.#head)) return "";
      this.#thinking = this.#head.startsWith(OPEN);
      if (!this.#thinking) return this.#decided(this.#head);
    }
    const end = this.#head.indexOf(CLOSE);
    if (end === -1) return "";
    this.#thought ||= this.#head.slice(OPEN.length, end).trim();
    const answer = this.#head.slice(end + CLOSE.length).trimStart();
    if (answer === "") {
      // Space between the thought and the answer is part of neither.
      this.#head = OPEN + CLOSE;
      return "";
    }
    return this.#decided(answer);
  }

  #decided(answer: string): string {
    this.#head = null;
    return answer;
  }
}
