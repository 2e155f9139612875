import type { JsonObject } from "../../../../core/json.ts";
import {
  fileAsText,
  fileDataUri,
  isFile,
  PDF,
  type AttachedFile,
} from "../../../../core/models/attached-files.ts";
import { imageDataUri } from "../../../../core/models/images.ts";
import type {
  AssistantMessage,
  FunctionExecutionResult,
  ImageContent,
  LLMMessage,
  UserMessage,
} from "../../../../core/models/llm-messages.ts";
import { showImages, splitImages, withoutImages } from "../../../../core/models/shown-images.ts";
import type { ModelAbilities } from "../../client/http-model-client.ts";
import { keptItems, type KeptItem } from "./maker-data.ts";

export interface InputStyle {
  /** The owner whose answers are sent back with their reasoning. */
  maker: string;
  /** True if user texts begin with the name of their source: this API has no names of messages. */
  prefixNames: boolean;
  abilities: ModelAbilities;
}

/** A message as JSON: the items that it stands for, separated by commas. */
export function writeItems(message: LLMMessage, style: InputStyle): string {
  return itemsOf(message, style)
    .map((item) => JSON.stringify(item))
    .join(",");
}

/**
 * The same without reasoning and without the ids of items: the API requires the reasoning of an item that it knows by
 * its id.
 */
export function writeBareItems(message: AssistantMessage, style: InputStyle): string {
  const kept = keptItems(message, style.maker);
  const items = kept?.flatMap(bareItem) ?? assistantItems(message);
  return items.map((item) => JSON.stringify(item)).join(",");
}

function itemsOf(original: LLMMessage, style: InputStyle): JsonObject[] {
  const message = showImages(original, style.abilities.sees);
  switch (message.type) {
    case "SystemMessage":
      return [{ role: "system", content: message.content }];
    case "UserMessage":
      return [userItem(message, style)];
    case "AssistantMessage":
      return keptItems(message, style.maker) ?? assistantItems(message);
    case "FunctionExecutionResultMessage":
      return message.content.map((result) => outputItem(result, style.abilities.sees));
  }
}

function userItem({ content, source }: UserMessage, style: InputStyle): JsonObject {
  const prefix = style.prefixNames ? `${source} said:\n` : "";
  if (typeof content === "string") return { role: "user", content: prefix + content };
  return {
    role: "user",
    content: content.map((part, index): JsonObject => {
      if (typeof part === "string") return inputPart(index === 0 ? prefix + part : part);
      if (isFile(part)) return filePart(part, style.abilities);
      style.abilities.checkImage(source);
      return inputPart(part);
    }),
  };
}

function assistantItems({ content, thought }: AssistantMessage): JsonObject[] {
  if (typeof content === "string") return textItems(content);
  return [
    ...textItems(thought ?? ""),
    ...content.map(({ id, name, arguments: args }) => ({
      type: "function_call",
      call_id: id,
      name,
      arguments: args,
    })),
  ];
}

function textItems(content: string): JsonObject[] {
  return content === "" ? [] : [{ role: "assistant", content }];
}

function outputItem({ content, call_id }: FunctionExecutionResult, sees: boolean): JsonObject {
  const parts = sees ? splitImages(content) : [withoutImages(content)];
  const [only] = parts;
  const output = parts.length === 1 && typeof only === "string" ? only : parts.map(inputPart);
  return {
    type: "function_call_output",
    call_id,
    output,
  };
}

function inputPart(part: string | ImageContent): JsonObject {
  return typeof part === "string"
    ? { type: "input_text", text: part }
    : { type: "input_image", image_url: imageDataUri(part), detail: "auto" };
}

/**
 * PDF is sent as a file, texts as text: for file types such as spreadsheets the server shows the model only a part
 * (https://developers.openai.com/api/docs/guides/file-inputs).
 */
function filePart(file: AttachedFile, { readsFiles }: ModelAbilities): JsonObject {
  const { name, media_type } = file;
  if (media_type !== PDF || !readsFiles) return inputPart(fileAsText(file));
  return { type: "input_file", filename: name, file_data: fileDataUri(file) };
}

function bareItem(item: KeptItem): JsonObject[] {
  const { id: _, ...bare } = item;
  return item.type === "message" || item.type === "function_call" ? [bare] : [];
}
