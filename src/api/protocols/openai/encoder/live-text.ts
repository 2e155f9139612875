import { ThinkingText } from "../../../../core/text/thinking-text.ts";

/**
 * A text that is shown while it streams. What was shown cannot be taken back: when the model is called again, the new text
 * is shown from where it goes beyond the old one.
 */
export class LiveText {
  readonly id: string;
  readonly source: string;
  shown = "";
  /** True if the text differs from the one that was shown. */
  changed = false;
  #text = new ThinkingText();
  /** The part of what was shown that the present attempt has not reached. */
  #ahead = "";
  /** True if the thought was taken. */
  #isTold = false;

  constructor(id: string, source: string) {
    this.id = id;
    this.source = source;
  }

  /** The model is called again. */
  restart(): void {
    this.#text = new ThinkingText();
    this.#isTold = false;
    this.#ahead = this.shown;
  }

  /** The reasoning between tags that the last pieces completed, once. */
  takeThought(): string {
    if (this.#isTold || !this.#text.isAnswer) return "";
    this.#isTold = true;
    return this.#text.thought.trimEnd();
  }

  /** The addition of a piece to the shown text. Reasoning between tags adds nothing. */
  add(piece: string): string {
    const { answer } = this.#text.add(piece);
    if (answer === "" || this.changed) return "";
    return this.#show(answer);
  }

  /** The addition of the whole text to the shown text. */
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
