import type { JsonObject } from "../../../core/json.ts";
import type { LLMMessage } from "../../../core/models/llm-messages.ts";

/** Matches a pair of escapes that is one character, a half of such a pair (the group), and any other escape. */
const ESCAPES =
  /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(\\u[dD][89a-fA-F][\da-fA-F]{2})|\\[^]/g;

/**
 * JSON text in which halves of characters are U+FFFD. Strict servers refuse them, written as they are or as escapes, and
 * would refuse each later request of the conversation, too.
 */
export function wellFormedJson(text: string): string {
  const whole = text.toWellFormed();
  if (!/\\u[dD][89a-fA-F]/.test(whole)) return whole;
  return whole.replaceAll(ESCAPES, (escape, half?: string) => (half ? "\uFFFD" : escape));
}

/** A value as JSON for a request. */
export function requestJson(value: unknown): string {
  return wellFormedJson(JSON.stringify(value));
}

/** The parts of a request's body that are written separately, each as JSON. */
interface RequestParts {
  /** The field of the conversation. */
  field: "messages" | "input";
  /** Its elements, without the brackets around them. */
  elements: string;
  /** The elements of `tools`, where they are not among the other fields. */
  tools?: readonly string[];
}

/** The body of a request as JSON text. The model and the conversation come first, so that the beginning stays the same. */
export function requestText(
  model: string,
  { field, elements, tools = [] }: RequestParts,
  fields: JsonObject,
): string {
  const toolsText = tools.length > 0 ? `,"tools":[${tools.join(",")}]` : "";
  const others = requestJson(fields).slice(1);
  const rest = others === "}" ? others : `,${others}`;
  return `{"model":${requestJson(model)},"${field}":[${elements}]${toolsText}${rest}`;
}

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
