import type { JsonObject } from "../json.ts";
import { isJsonObject } from "../json.ts";
import { jsonErrorMessage } from "../text/json-error.ts";

/** A tool call's arguments, or what the model is told about them. */
export type ParsedArguments = { args: JsonObject } | { error: string };

/**
 * Reads the arguments a model wrote. An empty value (`null`, `[]`, `""`, `0`, `false`) is an empty object, as in
 * AutoGen; a text without any value is not JSON.
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
