import type { LLMMessage } from "../../../core/models/llm-messages.ts";
import { wellFormedJson } from "./request-text.ts";

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
    return joined(this.elements(messages));
  }

  /** The elements, each as JSON. A message may be left out, or be several elements separated by commas. */
  elements(messages: readonly LLMMessage[]): string[] {
    const elements: string[] = [];
    for (const message of messages) {
      let part = this.#written.get(message);
      if (part === undefined) {
        part = wellFormedJson(this.#write(message));
        this.#written.set(message, part);
      }
      if (part !== "") elements.push(part);
    }
    return elements;
  }

  /** Writes a message in another way from now on. Returns whether that is a change. */
  replace(message: LLMMessage, written: string): boolean {
    const text = wellFormedJson(written);
    const isOther = this.#written.get(message) !== text;
    this.#written.set(message, text);
    return isOther;
  }
}

/** The elements of an array as the text between its brackets. */
export function joined(elements: readonly string[]): string {
  // `+=` instead of `join`: the engine then copies the text once, when it is sent.
  let text = "";
  for (const element of elements) text += text === "" ? element : `,${element}`;
  return text;
}
