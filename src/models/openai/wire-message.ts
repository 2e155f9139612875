import { imageDataUri } from "../../core/models/images.ts";
import type {
  AssistantMessage,
  FunctionExecutionResultMessage,
  ImageContent,
  LLMMessage,
  SystemMessage,
  UserMessage,
} from "../../core/models/llm-messages.ts";
import { showImages, splitImages, withoutImages } from "../../core/models/shown-images.ts";
import type { ModelAbilities } from "../model-abilities.ts";
import type { Dialect } from "./dialect.ts";
import type { GivenFields } from "./given-fields.ts";

export interface WireStyle {
  dialect: Dialect;
  /** Whether user messages carry a `name`. */
  includeNames: boolean;
  /** Whether user texts begin with the name of their source. */
  prefixNames: boolean;
  abilities: ModelAbilities;
  /** What goes back to the maker with an assistant's message. */
  givenBack: (message: AssistantMessage) => GivenFields | undefined;
}

/** A message as JSON: one object, several for several tool results, none for a message that is left out. */
export function writeMessage(given: LLMMessage, style: WireStyle): string {
  const message = showImages(given, style.abilities.sees);
  switch (message.type) {
    case "SystemMessage":
      return systemMessage(message, style);
    case "UserMessage":
      return userMessage(message, style);
    case "AssistantMessage":
      return assistantMessage(message, style);
    case "FunctionExecutionResultMessage":
      return resultMessages(message, style)
        .map((one) => JSON.stringify(one))
        .join(",");
  }
}

/** This API takes texts as results; their images follow as a user's message. */
function resultMessages(
  { content: results }: FunctionExecutionResultMessage,
  { abilities }: WireStyle,
): object[] {
  const about = abilities.sees ? ", shown below" : "";
  const messages = results.map(({ content, call_id }) => ({
    role: "tool",
    tool_call_id: call_id,
    content: withoutImages(content, about),
  }));
  if (!abilities.sees) return messages;
  const images = results.flatMap(({ name, content }) =>
    splitImages(content).flatMap((part) =>
      typeof part === "string"
        ? []
        : [{ type: "text", text: `Image from ${name}:` }, imagePart(part)],
    ),
  );
  return images.length === 0 ? messages : [...messages, { role: "user", content: images }];
}

function imagePart(image: ImageContent): object {
  return { type: "image_url", image_url: { url: imageDataUri(image), detail: "auto" } };
}

function systemMessage({ content }: SystemMessage, { dialect }: WireStyle): string {
  return JSON.stringify({ role: "system", content: content || dialect.emptySystem });
}

function userMessage({ content, source }: UserMessage, style: WireStyle): string {
  const { dialect } = style;
  const prefix = style.prefixNames ? `${source} said:\n` : "";
  const name = style.includeNames && dialect.names ? { name: wireName(source) } : {};
  if (typeof content === "string") {
    if (dialect.emptyText === "skip" && content.trim() === "") return "";
    const text = dialect.emptyText === "blank" ? content || " " : content;
    return JSON.stringify({ role: "user", ...name, content: prefix + text });
  }
  const parts = content.map((part, index) => {
    if (typeof part === "string") return { type: "text", text: index === 0 ? prefix + part : part };
    style.abilities.checkImage(source);
    return imagePart(part);
  });
  return JSON.stringify({ role: "user", ...name, content: parts });
}

function assistantMessage(message: AssistantMessage, style: WireStyle): string {
  const { content, thought } = message;
  const { dialect } = style;
  const { content: parts, calls, ...given } = style.givenBack(message) ?? {};
  if (typeof content === "string") {
    if (dialect.emptyText === "skip" && content.trim() === "") return "";
    const text = dialect.emptyText === "blank" ? content || " " : content;
    return JSON.stringify({ role: "assistant", content: parts ?? text, ...given });
  }
  const tool_calls = content.map((call) => ({
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: call.arguments },
    ...(calls?.[call.id] && { extra_content: calls[call.id] }),
  }));
  const text = thought === null ? null : thought || dialect.emptyThought;
  return JSON.stringify({ role: "assistant", content: parts ?? text, ...given, tool_calls });
}

/** A source's name, with the characters that the API refuses replaced. */
function wireName(source: string): string {
  return source.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64);
}
