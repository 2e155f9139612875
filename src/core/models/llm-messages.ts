import * as z from "zod";
import { ALLOWED_FILES, type AttachedFile, isPdf, isTextType, PDF } from "./attached-files.ts";
import { imageMediaType } from "./images.ts";

export const attachedFileSchema = z
  .object({
    data: z.string(),
    name: z.string().min(1).max(255),
    media_type: z
      .string()
      .refine((type) => type === PDF || isTextType(type), `must be of ${ALLOWED_FILES}`),
    text: z.string().optional(),
  })
  .refine(({ data, media_type }) => media_type !== PDF || isPdf(data), {
    path: ["data"],
    message: "must be base64 of a PDF, which begins with %PDF-",
  }) satisfies z.ZodType<AttachedFile>;

/** An image as AutoGen writes it: base64 of PNG, JPEG, WebP or GIF bytes. */
export const imageSchema = z.object({
  data: z
    .string()
    .refine(
      (data) => imageMediaType(data) !== undefined,
      "must be base64 of a PNG, JPEG, WebP or GIF picture",
    ),
});
export type ImageContent = z.infer<typeof imageSchema>;

/** A part of a user's message. A part that could be both an image and a file is an image. */
export const userPartSchema = z.union(
  [z.string(), imageSchema, attachedFileSchema],
  "must be a text, an image as { data }, or a file as { data, name, media_type }",
);
export type UserPart = string | ImageContent | AttachedFile;

/** A tool call requested by a model. `arguments` is the JSON text as the model wrote it. */
export const functionCallSchema = z.object({
  id: z.string(),
  arguments: z.string(),
  name: z.string(),
});
export type FunctionCall = z.infer<typeof functionCallSchema>;

/** The result of one tool call, as text. */
export const functionExecutionResultSchema = z.object({
  content: z.string(),
  name: z.string(),
  call_id: z.string(),
  is_error: z.boolean().nullable().default(null),
});
export type FunctionExecutionResult = z.infer<typeof functionExecutionResultSchema>;

export const systemMessageSchema = z.object({
  content: z.string(),
  type: z.literal("SystemMessage").default("SystemMessage"),
});
export type SystemMessage = z.infer<typeof systemMessageSchema>;

export const userMessageSchema = z.object({
  content: z.union([z.string(), z.array(userPartSchema)]),
  source: z.string(),
  type: z.literal("UserMessage").default("UserMessage"),
});
export type UserMessage = z.infer<typeof userMessageSchema>;

/**
 * Provider data that is sent back with the next request: signed thinking, encrypted reasoning, signatures of calls.
 * Only clients of the same provider read and send `data`. AutoGen has no equivalent and ignores it.
 */
export const makerDataSchema = z.object({
  maker: z.string(),
  model: z.string(),
  /** Data of one of the message's calls is found by the call's id, because a handoff passes on only some of them. */
  data: z.json(),
});
export type MakerData = z.infer<typeof makerDataSchema>;

export const assistantMessageSchema = z.object({
  content: z.union([z.string(), z.array(functionCallSchema)]),
  thought: z.string().nullable().default(null),
  source: z.string(),
  type: z.literal("AssistantMessage").default("AssistantMessage"),
  troupe: makerDataSchema.optional(),
});
export type AssistantMessage = z.infer<typeof assistantMessageSchema>;

export const functionExecutionResultMessageSchema = z.object({
  content: z.array(functionExecutionResultSchema),
  type: z.literal("FunctionExecutionResultMessage").default("FunctionExecutionResultMessage"),
});
export type FunctionExecutionResultMessage = z.infer<typeof functionExecutionResultMessageSchema>;

/** A message of a model's context (AutoGen `LLMMessage`). Treated as immutable once created. */
export const llmMessageSchema = z.discriminatedUnion("type", [
  systemMessageSchema,
  userMessageSchema,
  assistantMessageSchema,
  functionExecutionResultMessageSchema,
]);
export type LLMMessage = z.infer<typeof llmMessageSchema>;

/** A message with calls of tools. */
export type CallsMessage = AssistantMessage & { content: FunctionCall[] };

/** True if the message holds results of tools, which belong to the calls before it. */
export function isResults(
  message: LLMMessage | undefined,
): message is FunctionExecutionResultMessage {
  return message?.type === "FunctionExecutionResultMessage";
}

/** True if the message holds calls of tools. */
export function isCalls(message: LLMMessage | undefined): message is CallsMessage {
  return message?.type === "AssistantMessage" && typeof message.content !== "string";
}

export const requestUsageSchema = z.object({
  prompt_tokens: z.number().int().nonnegative(),
  completion_tokens: z.number().int().nonnegative(),
});
