import { isJsonObject, type JsonObject } from "../../../core/json.ts";
import type { FunctionCall } from "../../../core/models/llm-messages.ts";

/**
 * The arguments of a call, for APIs that take an object. A model may have written another value. It is kept, so that
 * the tool's error makes sense.
 */
export function argumentsOf({ arguments: text }: FunctionCall): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch {
    // Kept as text below.
  }
  return text === "" ? {} : { arguments: text };
}
