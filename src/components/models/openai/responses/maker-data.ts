import type {
  AssistantMessage,
  FunctionCall,
  MakerData,
} from "../../../../core/models/llm-messages.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../../core/json.ts";

/** The text of a reply that is one whole message item; it is stored once, in the message. */
const TEXT = "$text";

/** Items that contain no more than the message does. */
const IN_MESSAGE: ReadonlySet<string> = new Set(["message", "function_call"]);

/**
 * Items that would need an answer, which Troupe does not give, and pictures, whose bytes must not be repeated in a
 * conversation.
 */
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
 * The data of an answer to send back to OpenAI: its items, in order and unchanged. Data that the message also has is
 * left out: the arguments of calls, and the text if one message item is all of it. Undefined if the message alone is
 * sufficient.
 */
export function makerData(
  output: readonly KeptItem[],
  text: string,
  owner: { maker: string; model: string },
): MakerData | undefined {
  const kept = output.filter(({ type }) => !NOT_KEPT.has(type));
  if (kept.every(({ type }) => IN_MESSAGE.has(type))) return undefined;
  return { ...owner, data: { items: kept.map((item) => shortened(item, text)) } };
}

function shortened(item: KeptItem, text: string): Json {
  if (item.type === "function_call") {
    const { name: _, arguments: __, ...rest } = item;
    return rest;
  }
  const content = item["content"];
  if (item.type !== "message" || !Array.isArray(content)) return item;
  const [part, ...others] = content;
  const isText = isJsonObject(part) && part["type"] === "output_text" && part["text"] === text;
  return isText && others.length === 0 && text !== "" ? { ...item, content: TEXT } : item;
}

/** An item of an answer to send back, completed with the message's data. */
export type KeptItem = JsonObject & { type: string };

/**
 * The items of the answer from which a message was made; undefined if another provider made it, or some of its calls. A
 * handoff passes on some of an answer's calls: the others are left out, and so is reasoning that only they followed.
 */
export function keptItems(message: AssistantMessage, maker: string): KeptItem[] | undefined {
  const { troupe, content, thought } = message;
  if (troupe === undefined || troupe.maker !== maker) return undefined;
  const items = isJsonObject(troupe.data) ? troupe.data["items"] : undefined;
  if (!Array.isArray(items)) return undefined;
  const calls = typeof content === "string" ? [] : content;
  const text = typeof content === "string" ? content : (thought ?? "");
  const kept: KeptItem[] = [];
  /** True if any item between a reasoning and the next one is sent back. */
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
