import type { JsonObject } from "../../../core/json.ts";

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
