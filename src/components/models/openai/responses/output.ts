import { type Json, type JsonObject } from "../../../../core/json.ts";
import type { TokenLogprob } from "../../../../core/models/chat-completion-client.ts";
import { type TokenUsage, usageDetails } from "../../../../core/models/request-usage.ts";
import { type CallPart, callPartsOf, newCallId } from "../../chat/call-assembly.ts";
import { countIn, nameIn, objectsIn, optionalObject, textIn, typeIn } from "../../http/fields.ts";
import { says } from "../../http/server-report.ts";
import { logprobsIn } from "../chat-completions/chunk.ts";

/** A part of a message. */
export interface MessagePart {
  text: string;
  refusal: string;
  logprobs: TokenLogprob[];
}

/** An item of a response, each field with its type. `raw` is sent back with the next request. */
export type OutputItem = { raw: JsonObject & { type: string } } & (
  | { type: "message"; id: string | undefined; parts: MessagePart[] }
  | { type: "function_call"; parts: CallPart[] }
  | { type: "reasoning"; texts: string[] }
  | { type: "other" }
);

/** A response, or the end of a streamed one. */
export interface ResponseEnd {
  status: string | undefined;
  /** Why it is not complete. */
  reason: string | undefined;
  usage: TokenUsage;
  output: JsonObject[];
  /** The error of a failed response; undefined if it has none. */
  error: Json | undefined;
}

/** @throws ModelError `bad_response` for a response that cannot be read */
export function responseOf(value: JsonObject): ResponseEnd {
  return {
    status: nameIn(value["status"]),
    reason: nameIn(optionalObject(value["incomplete_details"])?.["reason"]),
    usage: usageIn(optionalObject(value["usage"])),
    output: objectsIn(value["output"], "output"),
    error: says(value["error"]) ? value["error"] : undefined,
  };
}

/** @throws ModelError `bad_response` for an item that cannot be read */
export function itemOf(value: JsonObject): OutputItem {
  const type = typeIn(value) ?? "";
  const raw = { ...value, type };
  switch (type) {
    case "message":
      return { raw, type, id: nameIn(value["id"]), parts: partsIn(value["content"]) };
    case "function_call": {
      // Servers of other providers may leave out the id of a call.
      const call_id = nameIn(value["call_id"]) ?? newCallId();
      const call = { id: call_id, name: value["name"], arguments: value["arguments"] };
      return { raw: { ...raw, call_id }, type, parts: callPartsOf(call) };
    }
    case "reasoning":
      return { raw, type, texts: [...textsIn(value["content"]), ...textsIn(value["summary"])] };
    default:
      return { raw, type: "other" };
  }
}

/** The parts of a message; a text alone is one part. */
function partsIn(content: Json | undefined): MessagePart[] {
  if (typeof content === "string") return [{ text: content, refusal: "", logprobs: [] }];
  return objectsIn(content, "content").map((part) => ({
    text: part["type"] === "refusal" ? "" : textIn(part["text"], "text"),
    refusal: part["type"] === "refusal" ? textIn(part["refusal"], "refusal") : "",
    logprobs: logprobsIn(part["logprobs"]),
  }));
}

function textsIn(parts: Json | undefined): string[] {
  if (!Array.isArray(parts)) return [];
  return parts.flatMap((part) => {
    const text = optionalObject(part)?.["text"];
    return typeof text === "string" ? [text] : [];
  });
}

/** Some servers omit the usage or parts of it. */
function usageIn(usage: JsonObject | undefined): TokenUsage {
  const input = optionalObject(usage?.["input_tokens_details"]);
  const output = optionalObject(usage?.["output_tokens_details"]);
  return {
    prompt_tokens: countIn(usage?.["input_tokens"]) ?? 0,
    completion_tokens: countIn(usage?.["output_tokens"]) ?? 0,
    ...usageDetails({
      cached_tokens: countIn(input?.["cached_tokens"]),
      cache_write_tokens: countIn(input?.["cache_write_tokens"]),
      reasoning_tokens: countIn(output?.["reasoning_tokens"]),
    }),
  };
}
