import { ValueError } from "../../core/errors.ts";
import { imageDataUri } from "../../core/models/images.ts";
import type {
  AssistantMessage,
  LLMMessage,
  SystemMessage,
  UserMessage,
} from "../../core/models/llm-messages.ts";
import type { Dialect } from "./dialect.ts";

export interface WireStyle {
  dialect: Dialect;
  /** Whether user messages carry a `name`. */
  includeNames: boolean;
  /** Whether user texts begin with who said them. */
  prefixNames: boolean;
  vision: boolean;
}

/**
 * Writes messages as the JSON that goes into a request. A message never changes, so each is written once and kept as
 * long as the message itself: a long conversation then costs its new messages only.
 */
export class WireMessages {
  readonly #style: WireStyle;
  readonly #written = new WeakMap<LLMMessage, string>();

  constructor(style: WireStyle) {
    this.#style = style;
  }

  /** The elements of the request's `messages`, without the brackets around them. */
  write(messages: readonly LLMMessage[]): string {
    // Added up, not joined: the engine then copies the text once, when it is sent.
    let text = "";
    for (const message of messages) {
      let part = this.#written.get(message);
      if (part === undefined) {
        part = writeMessage(message, this.#style);
        this.#written.set(message, part);
      }
      if (part !== "") text += text === "" ? part : `,${part}`;
    }
    return text;
  }
}

/** One message as JSON; a message of several tool results as several, one that is to be left out as none. */
function writeMessage(message: LLMMessage, style: WireStyle): string {
  switch (message.type) {
    case "SystemMessage":
      return systemMessage(message, style);
    case "UserMessage":
      return userMessage(message, style);
    case "AssistantMessage":
      return assistantMessage(message, style);
    case "FunctionExecutionResultMessage":
      return message.content
        .map(({ content, call_id }) =>
          JSON.stringify({ role: "tool", tool_call_id: call_id, content }),
        )
        .join(",");
  }
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
    if (!style.vision)
      throw new ValueError(
        `The model cannot see images, and a message of '${source}' has one (model_info.vision is false)`,
      );
    return { type: "image_url", image_url: { url: imageDataUri(part), detail: "auto" } };
  });
  return JSON.stringify({ role: "user", ...name, content: parts });
}

function assistantMessage({ content, thought }: AssistantMessage, { dialect }: WireStyle): string {
  if (typeof content === "string") {
    if (dialect.emptyText === "skip" && content.trim() === "") return "";
    const text = dialect.emptyText === "blank" ? content || " " : content;
    return JSON.stringify({ role: "assistant", content: text });
  }
  const tool_calls = content.map((call) => ({
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: call.arguments },
  }));
  const text = thought === null ? null : thought || dialect.emptyThought;
  return JSON.stringify({ role: "assistant", content: text, tool_calls });
}

/** A speaker's name in the letters that the API takes. */
function wireName(source: string): string {
  return source.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64);
}

/**
 * Puts system messages that follow each other into one, for models that take or heed only one.
 * @throws ValueError when there are others in between
 */
export function mergeSystemMessages(messages: readonly LLMMessage[]): readonly LLMMessage[] {
  const first = messages.findIndex((message) => message.type === "SystemMessage");
  if (first === -1) return messages;
  let end = first;
  const texts: string[] = [];
  for (let message = messages[end]; message?.type === "SystemMessage"; message = messages[++end])
    texts.push(message.content);
  if (messages.findLastIndex((message) => message.type === "SystemMessage") >= end)
    throw new ValueError(
      "The model takes one system message only, and there are several with others in between " +
        "(model_info.multiple_system_messages is false)",
    );
  if (texts.length === 1 && texts[0]?.trim() !== "") return messages;
  const content = texts.join("\n").trimEnd();
  const merged: LLMMessage[] = content === "" ? [] : [{ type: "SystemMessage", content }];
  return [...messages.slice(0, first), ...merged, ...messages.slice(end)];
}

/** Takes white space off the end of the conversation when the assistant spoke last. */
export function trimLastAssistant(messages: readonly LLMMessage[]): readonly LLMMessage[] {
  const last = messages.at(-1);
  if (last?.type !== "AssistantMessage" || typeof last.content !== "string") return messages;
  const content = last.content.trimEnd();
  return content === last.content ? messages : [...messages.slice(0, -1), { ...last, content }];
}
