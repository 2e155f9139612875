import * as z from "zod";
import type { JsonObject } from "../../../../core/json.ts";
import { jsonObjectSchema } from "../../../../core/json-object.ts";
import { fileAsText, isFile } from "../../../../core/models/attached-files.ts";
import { imageDataUri } from "../../../../core/models/images.ts";
import type { LLMMessage, UserMessage } from "../../../../core/models/llm-messages.ts";
import { stateSchemaOf } from "../../../../core/state/load-state.ts";

const partSchema = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  image_url: z.object({ url: z.string() }).optional(),
});

/** A message in the form that AutoGen's agent stores. */
const savedMessageSchema = z.object({
  role: z.string(),
  content: z.union([z.string(), z.array(partSchema)]).default(""),
});
type SavedMessage = z.infer<typeof savedMessageSchema>;

/** AutoGen's `OpenAIAgentState`. Data that its history cannot express, reasoning above all, is under `troupe`. */
export const openAIAgentStateSchema = stateSchemaOf("OpenAIAgentState").extend({
  response_id: z.string().nullish(),
  history: z.array(savedMessageSchema).default([]),
  troupe: z.object({ llm_context: jsonObjectSchema }).optional(),
});

/** The history that AutoGen reads, made from the conversation. It has no calls and results. */
export function historyOf(messages: readonly LLMMessage[]): JsonObject[] {
  return messages.flatMap((message): JsonObject[] => {
    switch (message.type) {
      case "SystemMessage":
        return [{ role: "system", content: message.content }];
      case "UserMessage":
        return [{ role: "user", content: savedContent(message.content) }];
      case "AssistantMessage":
        return typeof message.content === "string"
          ? [{ role: "assistant", content: message.content }]
          : [];
      case "FunctionExecutionResultMessage":
        return [];
    }
  });
}

/** True if the history contains all of a message. */
export function isInHistory(message: LLMMessage): boolean {
  if (message.type === "FunctionExecutionResultMessage") return false;
  if (message.type === "UserMessage" && typeof message.content !== "string")
    return !message.content.some(isFile);
  if (message.type !== "AssistantMessage") return true;
  return typeof message.content === "string" && message.troupe === undefined;
}

function savedContent(content: UserMessage["content"]): string | JsonObject[] {
  if (typeof content === "string") return content;
  return content.map((part): JsonObject => {
    if (typeof part === "string") return { type: "text", text: part };
    if (isFile(part)) return { type: "text", text: fileAsText(part) };
    return { type: "image_url", image_url: { url: imageDataUri(part) } };
  });
}

/** The conversation in a history of AutoGen. */
export function conversationOf(history: readonly SavedMessage[], name: string): LLMMessage[] {
  return history.map(({ role, content }): LLMMessage => {
    const text = typeof content === "string" ? content : textOf(content);
    if (role === "system") return { type: "SystemMessage", content: text };
    if (role === "assistant")
      return { type: "AssistantMessage", content: text, thought: null, source: name };
    const parts = typeof content === "string" ? content : content.map(loadedPart);
    return { type: "UserMessage", content: parts, source: "user" };
  });
}

type Part = z.infer<typeof partSchema>;

function textOf(parts: readonly Part[]): string {
  return parts.map(({ text = "" }) => text).join("\n");
}

function loadedPart({ text = "", image_url }: Part): string | { data: string } {
  const data = /^data:image\/[a-z]+;base64,(.+)$/.exec(image_url?.url ?? "")?.[1];
  return data === undefined ? (image_url?.url ?? text) : { data };
}
