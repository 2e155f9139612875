import { type Json, type JsonObject } from "troupe";
import { isJsonObject } from "#core/json.ts";
import { textOf } from "../trace.ts";
import { configOf, isProvider, isString, mentions, type Place, recordedWords } from "./place.ts";

/** AutoGen's words for ledgers that lack something, or hold no text where it needs one. */
const OTHER_FAULTS =
  /'(is_request_satisfied|next_speaker|answer)'$|a single JSON object|JSON object, but found language|for (Text|Stop)Message\ncontent\n/;

/** Deviation `ledger-speaker`: whether AutoGen failed because of one ledger, where it asks again for others. */
export function gaveUpOnLedger({ step, subject }: Place): boolean {
  // A tool that is a team puts its error into a result.
  const failed = step["error"] !== undefined || mentions(step, ({ is_error }) => is_error === true);
  const words = recordedWords(step);
  return mentions(subject, (node) => {
    if (!isProvider("MagenticOneGroupChat")(node)) return false;
    // It says the same of a speaker it does not know, at once, and of ten ledgers it could not read.
    return words.some((text) => text.includes("Failed to parse ledger"))
      ? namesStranger(node)
      : failed && words.some((text) => OTHER_FAULTS.test(text));
  });
}

function namesStranger(team: JsonObject): boolean {
  const { participants, model_client } = configOf(team);
  const members = Array.isArray(participants) ? participants.filter(isJsonObject) : [];
  const names = new Set(members.map((member) => textOf(configOf(member)["name"])));
  const { chat_completions } = isJsonObject(model_client) ? configOf(model_client) : {};
  return (
    Array.isArray(chat_completions) &&
    chat_completions.some((reply) => {
      const speaker = speakerIn(reply);
      return speaker !== undefined && !names.has(speaker);
    })
  );
}

function speakerIn(reply: Json): string | undefined {
  if (!isString(reply)) return undefined;
  const answer = /"next_speaker":\s*\{[^}]*"answer":\s*"([^"]*)"/.exec(reply);
  return answer?.[1];
}
