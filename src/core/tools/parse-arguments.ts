import type { JsonObject } from "../json.ts";
import { isJsonObject } from "../json.ts";
import { jsonErrorMessage } from "../text/json-error.ts";

/** A tool call's arguments, or what the model is told about them. */
export type ParsedArguments = { args: JsonObject } | { error: string };

/**
 * Reads the arguments a model wrote. Nothing, `null` and an empty text are an empty object: models write them for
 * tools without parameters.
 */
export function parseArguments(text: string): ParsedArguments {
  if (text.trim() === "") return { args: {} };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { error: `Error: ${jsonErrorMessage(text)}` };
  }
  if (value === null) return { args: {} };
  if (isJsonObject(value)) return { args: value };
  return { error: "Error: the arguments of a tool call must be a JSON object" };
}
