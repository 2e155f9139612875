import type { JsonObject } from "../../json.ts";
import { isJsonObject } from "../../json.ts";
import type { ToolSchema } from "../chat-completion-client.ts";
import { splitImages } from "../shown-images.ts";
import { isFile } from "../attached-files.ts";
import { fileTokens } from "./file-tokens.ts";
import { imageTokens } from "./image-tokens.ts";
import type { LLMMessage } from "../llm-messages.ts";
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
  let known = counted.get(name);
  if (known === undefined) counted.set(name, (known = new WeakMap()));
  let total = REPLY;
  for (const message of messages) {
    let tokens = known.get(message);
    if (tokens === undefined) {
      tokens = messageTokens(message, encode);
      known.set(message, tokens);
    }
    total += tokens;
  }
  return total + toolsTokens(tools, encode);
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
            ? encode(JSON.stringify({ type: "text", text: part }))
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
      return head + encode(JSON.stringify(calls)) + encode(message.thought ?? "");
    }
    case "FunctionExecutionResultMessage":
      return message.content.reduce(
        (sum, { content, call_id }) =>
          sum + encode("tool") + shownTokens(content, encode) + encode(call_id),
        PER_MESSAGE,
      );
  }
}

/** A text without the images that tools left in it, because models get them as images. */
function shownTokens(text: string, encode: Encode): number {
  return splitImages(text)
    .map((part) => (typeof part === "string" ? encode(part) : imageTokens(part)))
    .reduce((sum, tokens) => sum + tokens, 0);
}

/** OpenAI does not publish the overhead of tools; these numbers are AutoGen's. */
function toolsTokens(tools: readonly ToolSchema[], encode: Encode): number {
  if (tools.length === 0) return 0;
  return tools.reduce((sum, tool) => sum + toolTokens(tool, encode), 12);
}

function toolTokens({ name, description, parameters }: ToolSchema, encode: Encode): number {
  let tokens = encode(name) + encode(description ?? "") - 2;
  const properties = parameters?.["properties"];
  if (!isJsonObject(properties)) return tokens;
  const entries = Object.entries(properties);
  for (const [key, schema] of entries)
    tokens += encode(key) + (isJsonObject(schema) ? propertyTokens(schema, encode) : 0);
  return tokens + (entries.length === 0 ? 9 : 11);
}

function propertyTokens(schema: JsonObject, encode: Encode): number {
  let tokens = 0;
  const text = (value: unknown): string =>
    typeof value === "string" ? value : JSON.stringify(value);
  for (const [field, value] of Object.entries(schema)) {
    if (field === "type" || field === "description" || field === "title")
      tokens += 2 + encode(text(value));
    else if (field === "default") tokens += 2 + encode(JSON.stringify(value));
    else if (field === "anyOf" && Array.isArray(value)) {
      tokens -= 3;
      for (const option of value)
        tokens += 3 + encode(text(isJsonObject(option) ? (option["type"] ?? "") : option));
    } else if (field === "enum" && Array.isArray(value)) {
      tokens -= 3;
      for (const option of value) tokens += 3 + encode(text(option));
    }
  }
  return tokens;
}
