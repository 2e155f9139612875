import { isJsonObject, type Json } from "../../json.ts";
import type { ToolSchema } from "../chat-completion-client.ts";
import { splitImages } from "../shown-images.ts";
import { isFile } from "../attached-files.ts";
import { fileTokens } from "./file-tokens.ts";
import { imageTokens } from "./image-tokens.ts";
import type { LLMMessage } from "../llm-messages.ts";
import { toolsTokens } from "./tool-tokens.ts";
import { tokenizerFor } from "./tokenizer.ts";

type Encode = (text: string) => number;

/** Counts by tokenizer, cached: a message never changes, and trimming a conversation counts it at every call. */
const counted = new Map<string, WeakMap<LLMMessage, number>>();

/** Tokens that begin the reply. */
const REPLY = 3;
const PER_MESSAGE = 3;
const PER_NAME = 1;

/**
 * The tokens of messages and tools as a prompt of `model`, counted as AutoGen does for OpenAI's models. For the models of
 * other makers it is an estimate.
 */
export async function countTokens(
  messages: readonly LLMMessage[],
  tools: readonly ToolSchema[],
  model: string,
): Promise<number> {
  const { name, count: encode } = await tokenizerFor(model);
  let existing = counted.get(name);
  if (existing === undefined) counted.set(name, (existing = new WeakMap()));
  let total = REPLY;
  for (const message of messages) {
    let tokens = existing.get(message);
    if (tokens === undefined) {
      tokens = messageTokens(message, encode);
      existing.set(message, tokens);
    }
    total += tokens;
  }
  return total + toolsTokens(tools, name, encode);
}

function messageTokens(message: LLMMessage, encode: Encode): number {
  switch (message.type) {
    case "SystemMessage":
      return PER_MESSAGE + encode("system") + encode(message.content);
    case "UserMessage": {
      const head = PER_MESSAGE + encode("user") + encode(message.source) + PER_NAME;
      if (typeof message.content === "string") return head + shownTokens(message.content, encode);
      return message.content.reduce(
        (sum, part) =>
          sum +
          (typeof part === "string"
            ? encode(spacedJson({ type: "text", text: part }))
            : isFile(part)
              ? fileTokens(part, encode)
              : imageTokens(part)),
        head,
      );
    }
    case "AssistantMessage": {
      const head = PER_MESSAGE + encode("assistant");
      if (typeof message.content === "string") return head + encode(message.content);
      const calls = message.content.map(({ id, name, arguments: args }) => ({
        id,
        function: { arguments: args, name },
        type: "function",
      }));
      return head + encode(spacedJson(calls)) + encode(message.thought ?? "null");
    }
    case "FunctionExecutionResultMessage":
      return message.content.reduce(
        (sum, { content, call_id }) =>
          sum + PER_MESSAGE + encode("tool") + shownTokens(content, encode) + encode(call_id),
        0,
      );
  }
}

/** A text without the images that tools left in it, because models get them as images. */
function shownTokens(text: string, encode: Encode): number {
  return splitImages(text)
    .map((part) => (typeof part === "string" ? encode(part) : imageTokens(part)))
    .reduce((sum, tokens) => sum + tokens, 0);
}

/** JSON with the blanks that Python writes: AutoGen counts calls and parts of messages in this form. */
function spacedJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(", ")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const entries = Object.entries(value);
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}: ${spacedJson(item)}`).join(", ")}}`;
}
