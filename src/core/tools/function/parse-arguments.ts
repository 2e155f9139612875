import type { JsonObject } from "../../json.ts";
import { isJsonObject } from "../../json.ts";
import { jsonErrorMessage } from "../../text/json-error.ts";

/** A tool call's arguments, or the error for the model. */
export type ParsedArguments = { args: JsonObject } | { error: string };

/**
 * Parses the arguments of a model's call. Empty values (`null`, `[]`, `""`, `0`, `false`) become an empty object, as in
 * AutoGen; empty text is invalid JSON.
 */
export function parseArguments(text: string): ParsedArguments {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { error: `Error: ${jsonErrorMessage(text)}` };
  }
  if (isJsonObject(value)) return { args: value };
  if (!value || (Array.isArray(value) && value.length === 0)) return { args: {} };
  return { error: "Error: the arguments of a tool call must be a JSON object" };
}
