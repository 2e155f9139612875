import {
  type AttachedFile,
  fileAsText,
  isFile,
  PDF,
  textOfFile,
} from "../../../core/models/attached-files.ts";
import { parseJson } from "../../../core/json.ts";
import type {
  AssistantMessage,
  FunctionCall,
  ImageContent,
  LLMMessage,
  UserMessage,
} from "../../../core/models/llm-messages.ts";
import { imageMediaType } from "../../../core/models/images.ts";
import { showImages, splitImages, withoutImages } from "../../../core/models/shown-images.ts";
import type { ModelAbilities } from "../client/http-model-client.ts";
import { signedContent, type TurnBlock } from "./signed-turn.ts";

/**
 * A message as the JSON of one element of the request's `messages`; empty for one that is left out, such as the system message,
 * which has a field of its own. The API refuses blank texts.
 *
 * @param signed the blocks of an assistant's message that go back with their signatures, if there are any
 */
export function writeMessage(
  original: LLMMessage,
  abilities: ModelAbilities,
  signed: (message: AssistantMessage) => readonly TurnBlock[] | undefined,
): string {
  const message = showImages(original, abilities.sees);
  switch (message.type) {
    case "SystemMessage":
      return "";
    case "UserMessage":
      return element("user", userContent(message, abilities));
    case "AssistantMessage":
      return element("assistant", assistantContent(message, signed(message)));
    case "FunctionExecutionResultMessage":
      return element(
        "user",
        message.content.map(({ call_id, content, is_error }) => ({
          type: "tool_result",
          tool_use_id: call_id,
          content: resultContent(content, is_error === true, abilities.sees),
          ...(is_error === true ? { is_error } : {}),
        })),
      );
  }
}

/** Stands in for the text of an error without one, which the API refuses. */
const WITHOUT_WORDS = "The tool failed without a message.";

function resultContent(content: string, failed: boolean, sees: boolean): string | object[] {
  const text = content.trim() !== "" ? content : failed ? WITHOUT_WORDS : "";
  if (!sees) return withoutImages(text);
  const parts = splitImages(text);
  const [only] = parts;
  if (parts.length === 1 && typeof only === "string") return only;
  return parts.flatMap((part) =>
    typeof part === "string" ? textBlocks(part) : [imageBlock(part)],
  );
}

function element(role: "user" | "assistant", content: string | object[]): string {
  const isEmpty = typeof content === "string" ? content.trim() === "" : content.length === 0;
  return isEmpty ? "" : JSON.stringify({ role, content });
}

function userContent({ content, source }: UserMessage, abilities: ModelAbilities) {
  if (typeof content === "string") return content;
  return content.flatMap((part) => {
    if (typeof part === "string") return textBlocks(part);
    if (isFile(part)) return fileBlocks(part, abilities);
    abilities.checkImage(source);
    return [imageBlock(part)];
  });
}

function assistantContent(message: AssistantMessage, signed: readonly TurnBlock[] | undefined) {
  const { content, thought } = message;
  const isText = typeof content === "string";
  if (signed !== undefined && !(isText && content.trim() === ""))
    return signedContent(message, signed, callBlock);
  return isText ? content : [...textBlocks(thought ?? ""), ...content.map(callBlock)];
}

function callBlock({ id, name, arguments: args }: FunctionCall): object {
  return { type: "tool_use", id, name, input: parseJson(args) };
}

function textBlocks(text: string): object[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

/** https://platform.claude.com/docs/en/build-with-claude/pdf-support */
function fileBlocks(file: AttachedFile, { readsFiles }: ModelAbilities): object[] {
  if (!readsFiles) return textBlocks(fileAsText(file));
  const { data, name, media_type } = file;
  const title = { title: name };
  if (media_type === PDF)
    return [{ type: "document", source: { type: "base64", media_type, data }, ...title }];
  const text = textOfFile(file) ?? "";
  // The API refuses an empty document, as it refuses an empty text.
  if (text.trim() === "") return textBlocks(fileAsText(file));
  return [
    { type: "document", source: { type: "text", media_type: "text/plain", data: text }, ...title },
  ];
}

function imageBlock({ data }: ImageContent): object {
  const media_type = imageMediaType(data) ?? "image/jpeg";
  return { type: "image", source: { type: "base64", media_type, data } };
}
