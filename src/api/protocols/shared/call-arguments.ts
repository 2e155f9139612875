import type { HumanRequest } from "../../../contract/run.ts";
import {
  type Json,
  type JsonObject,
  isJsonObject,
  parseJson,
  withNumbers,
} from "../../../core/json.ts";
import { fitted } from "../../../core/json-schema/fit.ts";

/**
 * The arguments of a call that a client makes or approves, as JSON text. A request has numbers that JavaScript would change as
 * texts: where the tool's schema wants a number, it is one again, because the text keeps its digits.
 */
export function argumentsTextOf({
  arguments: args,
  parameters,
}: NonNullable<HumanRequest["tool_call"]>): string {
  return JSON.stringify(parameters === undefined ? args : fitted(args, parameters));
}

/**
 * The arguments that a model wrote as a value for clients in JavaScript, which get numbers that it would change as texts.
 *
 * @throws SyntaxError for a text that is not JSON
 */
export function argumentsValueOf(text: string): Json {
  const value = parseJson(text);
  return isJsonObject(value) ? (withNumbers(value, String) as JsonObject) : value;
}
