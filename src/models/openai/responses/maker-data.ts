import type { ResponseOutputItem } from "openai/resources/responses/responses";
import type {
  AssistantMessage,
  FunctionCall,
  MakerData,
} from "../../../core/models/llm-messages.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";

/** The text of a reply that is the whole of one message item; it is kept once, in the message. */
const TEXT = "$text";

/** Items that say no more than the message does. */
const IN_MESSAGE: ReadonlySet<string> = new Set(["message", "function_call"]);

/** Items that would have to be answered, which nobody does, and pictures, whose bytes no conversation should repeat. */
const NOT_KEPT: ReadonlySet<string> = new Set([
  "image_generation_call",
  "computer_call",
  "local_shell_call",
  "shell_call",
  "apply_patch_call",
  "custom_tool_call",
  "mcp_approval_request",
]);

/**
 * What OpenAI wants back of an answer: its items in their order, as they came. What the message has, too, is left out:
 * the arguments of calls, and the text where one message item is all of it. Undefined where the message alone says
 * everything.
 */
export function makerData(
  output: readonly ResponseOutputItem[],
  text: string,
  owner: { maker: string; model: string },
): MakerData | undefined {
  const kept = output.filter(({ type }) => !NOT_KEPT.has(type));
  if (kept.every(({ type }) => IN_MESSAGE.has(type))) return undefined;
  return { ...owner, data: { items: kept.map((item) => shortened(item, text)) } };
}

function shortened(item: ResponseOutputItem, text: string): Json {
  const json = item as unknown as JsonObject;
  if (item.type === "function_call") {
    const { name: _, arguments: __, ...rest } = json;
    return rest;
  }
  if (item.type !== "message") return json;
  const [part, ...others] = item.content;
  const isAll = others.length === 0 && part?.type === "output_text" && part.text === text;
  return isAll && text !== "" ? { ...json, content: TEXT } : json;
}

/** An item of an answer as it goes back, with what the message has of it. */
export type KeptItem = JsonObject & { type: string };

/**
 * The items of the answer that a message was made of; undefined where this maker did not make it, or not all of its calls. A handoff passes on some
 * of an answer's calls: the others are left out, and so is reasoning that only they followed.
 */
export function keptItems(message: AssistantMessage, maker: string): KeptItem[] | undefined {
  const { troupe, content, thought } = message;
  if (troupe === undefined || troupe.maker !== maker) return undefined;
  const items = isJsonObject(troupe.data) ? troupe.data["items"] : undefined;
  if (!Array.isArray(items)) return undefined;
  const calls = typeof content === "string" ? [] : content;
  const text = typeof content === "string" ? content : (thought ?? "");
  const kept: KeptItem[] = [];
  /** Whether something goes back of what was written after a reasoning, before the next one. */
  let isFollowed = false;
  let afterIsReasoning = false;
  for (const stored of items.toReversed()) {
    const item = restore(stored, calls, text);
    const isReasoning = item?.type === "reasoning";
    if (afterIsReasoning && !isReasoning) isFollowed = false;
    afterIsReasoning = isReasoning;
    if (item === undefined || (isReasoning && !isFollowed)) continue;
    isFollowed = true;
    kept.unshift(item);
  }
  const isWhole = kept.filter(({ type }) => type === "function_call").length === calls.length;
  return isWhole ? kept : undefined;
}

function restore(
  item: Json | undefined,
  calls: readonly FunctionCall[],
  text: string,
): KeptItem | undefined {
  if (!isJsonObject(item) || typeof item["type"] !== "string") return undefined;
  const kept = item as KeptItem;
  if (kept.type === "message" && kept["content"] === TEXT)
    return { ...kept, content: [{ type: "output_text", text, annotations: [] }] };
  if (kept.type !== "function_call") return kept;
  const call = calls.find(({ id }) => id === kept["call_id"]);
  if (call === undefined) return undefined;
  return { ...kept, name: call.name, arguments: call.arguments };
}
