import { isJsonObject, type Json, parseJson } from "../../../core/json.ts";
import type {
  AssistantMessage,
  LLMMessage,
  UserMessage,
} from "../../../core/models/llm-messages.ts";
import { fileAsText, isFile } from "../../../core/models/attached-files.ts";
import { showImages, splitImages, withoutImages } from "../../../core/models/shown-images.ts";
import type { ModelAbilities } from "../client/http-model-client.ts";
import { OLLAMA } from "./wire.ts";

interface WireMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string;
  /** The model's thought before its calls. */
  thinking?: string;
  /** Base64. */
  images?: string[];
  tool_calls?: { id: string; function: { name: string; arguments: Json } }[];
  tool_name?: string;
  tool_call_id?: string;
}

/** A message as the JSON of one or more elements of the request's `messages`, separated by commas. */
export function writeMessage(message: LLMMessage, abilities: ModelAbilities): string {
  return wireMessages(message, abilities)
    .map((one) => JSON.stringify(one))
    .join(",");
}

function wireMessages(original: LLMMessage, abilities: ModelAbilities): WireMessage[] {
  const message = showImages(original, abilities.sees);
  switch (message.type) {
    case "SystemMessage":
      return [{ role: "system", content: message.content }];
    case "UserMessage":
      return userMessages(message, abilities);
    case "AssistantMessage":
      return [assistantMessage(message)];
    case "FunctionExecutionResultMessage":
      return message.content.map(({ content, name, call_id }) => {
        const images = splitImages(content).flatMap((part) =>
          typeof part === "string" ? [] : part.data,
        );
        return {
          role: "tool",
          content: withoutImages(content),
          ...(abilities.sees && images.length > 0 && { images }),
          tool_name: name,
          tool_call_id: call_id,
        };
      });
  }
}

/**
 * One message per text, each with the images that follow it, because a message has no other order of texts and images.
 */
function userMessages({ content, source }: UserMessage, abilities: ModelAbilities): WireMessage[] {
  if (typeof content === "string") return [{ role: "user", content }];
  const messages: WireMessage[] = [];
  for (const part of content) {
    if (typeof part === "string" || isFile(part)) {
      const text = typeof part === "string" ? part : fileAsText(part);
      messages.push({ role: "user", content: text });
      continue;
    }
    abilities.checkImage(source);
    let last = messages.at(-1);
    if (last === undefined) messages.push((last = { role: "user", content: "" }));
    (last.images ??= []).push(part.data);
  }
  return messages;
}

function assistantMessage({ content, thought, troupe }: AssistantMessage): WireMessage {
  if (typeof content === "string") return { role: "assistant", content };
  const thinking =
    troupe?.maker === OLLAMA && isJsonObject(troupe.data) ? troupe.data["thinking"] : undefined;
  return {
    role: "assistant",
    // The thought of a message may be the same text.
    content: thought === null || thought === thinking ? "" : thought,
    ...(typeof thinking === "string" && { thinking }),
    tool_calls: content.map((call) => ({
      id: call.id,
      function: { name: call.name, arguments: parseJson(call.arguments) },
    })),
  };
}
