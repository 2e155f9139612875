import type { Json, JsonObject } from "../../../core/json.ts";
import { type CallPart, callPartsOf, newCallId } from "../chat/call-assembly.ts";
import {
  countIn,
  nameIn,
  objectIn,
  objectsIn,
  optionalObject,
  textIn,
  typeIn,
} from "../http/fields.ts";

/** A block of a message, each field with its type. `raw` is sent back with the next request. */
export type Block = { raw: JsonObject } & (
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string }
  | { type: "redacted_thinking" }
  | { type: "tool_use"; parts: CallPart[] }
  | { type: "other" }
);

/** Usage of a message or of an event; servers of other providers leave out parts of it. */
export interface AnthropicUsage {
  input?: number | undefined;
  output?: number | undefined;
  cacheWritten?: number | undefined;
  cacheRead?: number | undefined;
  thinking?: number | undefined;
}

/** An event of a streamed message. A whole message is all of them in one. */
export type MessageEvent =
  | { type: "message_start"; usage: AnthropicUsage }
  | { type: "message"; blocks: Block[]; stopReason: string | undefined; usage: AnthropicUsage }
  | { type: "content_block_start"; index: number; block: Block }
  | { type: "content_block_delta"; index: number; delta: BlockDelta }
  | { type: "message_delta"; stopReason: string | undefined; usage: AnthropicUsage }
  | { type: "message_stop" }
  | { type: "other" };

export type BlockDelta =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string }
  | { type: "signature"; text: string }
  | { type: "input"; text: string }
  | { type: "other" };

/**
 * Gives each field of an event its type. Events without a meaning become `other`.
 *
 * @param name the name of the event, for servers that leave it out of the data
 * @throws ModelError `bad_response` for an event that cannot be read
 */
export function eventOf(value: JsonObject, name: string | undefined): MessageEvent {
  const type = typeIn(value) ?? name;
  switch (type) {
    case "message_start":
      return { type, usage: usageIn(objectIn(value["message"], "message")?.["usage"]) };
    case "content_block_start": {
      const block = objectIn(value["content_block"], "content_block");
      return block === undefined
        ? { type: "other" }
        : { type, index: indexOf(value), block: blockOf(block) };
    }
    case "content_block_delta": {
      const delta = objectIn(value["delta"], "delta");
      return delta === undefined
        ? { type: "other" }
        : { type, index: indexOf(value), delta: deltaOf(delta) };
    }
    case "message_delta": {
      const delta = objectIn(value["delta"], "delta");
      return { type, stopReason: nameIn(delta?.["stop_reason"]), usage: usageIn(value["usage"]) };
    }
    case "message_stop":
      return { type };
    default:
      return value["content"] === undefined ? { type: "other" } : messageOf(value);
  }
}

function messageOf(value: JsonObject): MessageEvent {
  const { content } = value;
  const blocks =
    typeof content === "string"
      ? [blockOf({ type: "text", text: content })]
      : objectsIn(content, "content").map(blockOf);
  const usage = usageIn(value["usage"]);
  return { type: "message", blocks, stopReason: nameIn(value["stop_reason"]), usage };
}

function indexOf(value: JsonObject): number {
  return countIn(value["index"]) ?? 0;
}

function blockOf(raw: JsonObject): Block {
  switch (typeIn(raw)) {
    case "text":
      return { raw, type: "text", text: textIn(raw["text"], "text") };
    case "thinking":
      return { raw, type: "thinking", thinking: textIn(raw["thinking"], "thinking") };
    case "redacted_thinking":
      return { raw, type: "redacted_thinking" };
    case "tool_use": {
      const id = nameIn(raw["id"]) ?? newCallId();
      const call = { id, name: raw["name"], arguments: raw["input"] };
      return { raw: { ...raw, id }, type: "tool_use", parts: callPartsOf(call) };
    }
    default:
      return { raw, type: "other" };
  }
}

function deltaOf(delta: JsonObject): BlockDelta {
  switch (typeIn(delta)) {
    case "text_delta":
      return { type: "text", text: textIn(delta["text"], "text") };
    case "thinking_delta":
      return { type: "thinking", text: textIn(delta["thinking"], "thinking") };
    case "signature_delta":
      return { type: "signature", text: textIn(delta["signature"], "signature") };
    case "input_json_delta":
      return { type: "input", text: textIn(delta["partial_json"], "partial_json") };
    default:
      return { type: "other" };
  }
}

function usageIn(value: Json | undefined): AnthropicUsage {
  const usage = optionalObject(value);
  const details = optionalObject(usage?.["output_tokens_details"]);
  return {
    input: countIn(usage?.["input_tokens"]),
    output: countIn(usage?.["output_tokens"]),
    cacheWritten: countIn(usage?.["cache_creation_input_tokens"]),
    cacheRead: countIn(usage?.["cache_read_input_tokens"]),
    thinking: countIn(details?.["thinking_tokens"]),
  };
}
