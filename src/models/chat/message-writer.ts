import type { LLMMessage } from "../../core/models/llm-messages.ts";

/**
 * Writes messages as the JSON of a request. A message never changes, so each is written once and its text kept as long
 * as the message itself: a call in a long conversation then costs its new messages only.
 */
export class MessageWriter {
  readonly #write: (message: LLMMessage) => string;
  readonly #written = new WeakMap<LLMMessage, string>();

  /** @param write a message as JSON: one object, several separated by commas, or none */
  constructor(write: (message: LLMMessage) => string) {
    this.#write = write;
  }

  /** The elements of the request's `messages`, without the brackets around them. */
  write(messages: readonly LLMMessage[]): string {
    // `+=` instead of `join`: the engine then copies the text once, when it is sent.
    let text = "";
    for (const message of messages) {
      let part = this.#written.get(message);
      if (part === undefined) {
        part = this.#write(message);
        this.#written.set(message, part);
      }
      if (part !== "") text += text === "" ? part : `,${part}`;
    }
    return text;
  }

  /** Writes a message in another way from now on. Returns whether that is a change. */
  replace(message: LLMMessage, text: string): boolean {
    const isOther = this.#written.get(message) !== text;
    this.#written.set(message, text);
    return isOther;
  }
}
