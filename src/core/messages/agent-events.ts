import * as z from "zod";
import { codeBlockSchema, codeResultSchema } from "../code/code-block.ts";
import { functionCallSchema, functionExecutionResultSchema } from "../models/llm-messages.ts";
import { memoryContentSchema } from "../memory/memory-schemas.ts";
import { baseMessageSchema } from "./base.ts";

export const toolCallRequestEventSchema = baseMessageSchema.extend({
  content: z.array(functionCallSchema),
  type: z.literal("ToolCallRequestEvent"),
});
export type ToolCallRequestEvent = z.infer<typeof toolCallRequestEventSchema>;

export const toolCallExecutionEventSchema = baseMessageSchema.extend({
  content: z.array(functionExecutionResultSchema),
  type: z.literal("ToolCallExecutionEvent"),
});
export type ToolCallExecutionEvent = z.infer<typeof toolCallExecutionEventSchema>;

export const codeGenerationEventSchema = baseMessageSchema.extend({
  retry_attempt: z.number().int(),
  content: z.string(),
  code_blocks: z.array(codeBlockSchema),
  type: z.literal("CodeGenerationEvent"),
});
export type CodeGenerationEvent = z.infer<typeof codeGenerationEventSchema>;

export const codeExecutionEventSchema = baseMessageSchema.extend({
  retry_attempt: z.number().int(),
  result: codeResultSchema,
  type: z.literal("CodeExecutionEvent"),
});
export type CodeExecutionEvent = z.infer<typeof codeExecutionEventSchema>;

export const userInputRequestedEventSchema = baseMessageSchema.extend({
  request_id: z.string(),
  content: z.literal("").default(""),
  type: z.literal("UserInputRequestedEvent"),
});
export type UserInputRequestedEvent = z.infer<typeof userInputRequestedEventSchema>;

export const memoryQueryEventSchema = baseMessageSchema.extend({
  content: z.array(memoryContentSchema),
  type: z.literal("MemoryQueryEvent"),
});
export type MemoryQueryEvent = z.infer<typeof memoryQueryEventSchema>;

/** A piece of a reply while it streams. `full_message_id` is the id the whole message will have. */
export const modelClientStreamingChunkEventSchema = baseMessageSchema.extend({
  content: z.string(),
  full_message_id: z.string().nullable().default(null),
  type: z.literal("ModelClientStreamingChunkEvent"),
});
export type ModelClientStreamingChunkEvent = z.infer<typeof modelClientStreamingChunkEventSchema>;

export const thoughtEventSchema = baseMessageSchema.extend({
  content: z.string(),
  type: z.literal("ThoughtEvent"),
});
export type ThoughtEvent = z.infer<typeof thoughtEventSchema>;

export const selectSpeakerEventSchema = baseMessageSchema.extend({
  content: z.array(z.string()),
  type: z.literal("SelectSpeakerEvent"),
});
export type SelectSpeakerEvent = z.infer<typeof selectSpeakerEventSchema>;

export const selectorEventSchema = baseMessageSchema.extend({
  content: z.string(),
  type: z.literal("SelectorEvent"),
});
export type SelectorEvent = z.infer<typeof selectorEventSchema>;

/** Kept in the union so that code which reads events can be exhaustive over the known ones. */
export const agentEventSchemas = [
  toolCallRequestEventSchema,
  toolCallExecutionEventSchema,
  codeGenerationEventSchema,
  codeExecutionEventSchema,
  userInputRequestedEventSchema,
  memoryQueryEventSchema,
  modelClientStreamingChunkEventSchema,
  thoughtEventSchema,
  selectSpeakerEventSchema,
  selectorEventSchema,
] as const;
