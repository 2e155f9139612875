import { TaggedThought } from "../../shared/tagged-thought.ts";

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
  #tags = new TaggedThought();
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
    this.#tags = new TaggedThought();
    this.#thought = "";
    this.#ahead = this.shown;
  }

  /** The reasoning between tags that the last pieces completed, once. */
  takeThought(): string {
    if (!this.#tags.closed) return "";
    const thought = this.#thought.trimEnd();
    this.#thought = "";
    return thought;
  }

  /** What a piece adds to what is shown. Reasoning between tags is not. */
  add(piece: string): string {
    const { thought, answer } = this.#tags.add(piece);
    this.#thought += thought;
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
}
