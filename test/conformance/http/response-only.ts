import { type Json } from "troupe";
import { isJsonObject } from "#core/json.ts";
import { difference } from "../compare/compare.ts";

/**
 * AutoGen's plain run of an agent leaves out of its result what the agent said on the way and its response does not
 * hold; a run of the service has one result, with all that its stream shows. Leaves out what the recording leaves out,
 * where everything it has is there, in order, and the answer is last.
 */
export function responseOnly(recorded: Json | undefined, result: Json): Json {
  const wanted = [...messagesOf(recorded)];
  const shown = messagesOf(result);
  if (!isJsonObject(result) || !same(wanted.at(-1), shown.at(-1))) return result;
  const messages = shown.filter((message) => {
    if (!same(wanted[0], message)) return false;
    wanted.shift();
    return true;
  });
  return wanted.length === 0 ? { ...result, messages } : result;
}

function same(recorded: Json | undefined, shown: Json | undefined): boolean {
  return recorded !== undefined && difference(recorded, shown, {}) === undefined;
}

function messagesOf(result: Json | undefined): readonly Json[] {
  return isJsonObject(result) && Array.isArray(result["messages"]) ? result["messages"] : [];
}
