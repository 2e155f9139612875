import * as z from "zod";
import type { JsonObject } from "../json.ts";
import { jsonObjectSchema } from "../json-object.ts";
import {
  functionCallSchema,
  functionExecutionResultSchema,
  llmMessageSchema,
  userPartSchema,
} from "../models/llm-messages.ts";
import { baseMessageSchema } from "./base.ts";

export const textMessageSchema = baseMessageSchema.extend({
  content: z.string(),
  type: z.literal("TextMessage"),
});
export type TextMessage = z.infer<typeof textMessageSchema>;

export const multiModalMessageSchema = baseMessageSchema.extend({
  content: z.array(userPartSchema),
  type: z.literal("MultiModalMessage"),
});
export type MultiModalMessage = z.infer<typeof multiModalMessageSchema>;

export const stopMessageSchema = baseMessageSchema.extend({
  content: z.string(),
  type: z.literal("StopMessage"),
});
export type StopMessage = z.infer<typeof stopMessageSchema>;

export const handoffMessageSchema = baseMessageSchema.extend({
  content: z.string(),
  target: z.string(),
  context: z.array(llmMessageSchema).default([]),
  type: z.literal("HandoffMessage"),
});
export type HandoffMessage = z.infer<typeof handoffMessageSchema>;

export const toolCallSummaryMessageSchema = baseMessageSchema.extend({
  content: z.string(),
  tool_calls: z.array(functionCallSchema),
  results: z.array(functionExecutionResultSchema),
  type: z.literal("ToolCallSummaryMessage"),
});
export type ToolCallSummaryMessage = z.infer<typeof toolCallSummaryMessageSchema>;

/** A message whose content follows a JSON Schema; `type` is `StructuredMessage[Name]` with the schema's name. */
export const structuredMessageSchema = baseMessageSchema.extend({
  content: jsonObjectSchema,
  format_string: z.string().nullable().default(null),
  type: z.templateLiteral(["StructuredMessage[", z.string(), "]"]),
});
export type StructuredMessage<Content = JsonObject> = Omit<
  z.infer<typeof structuredMessageSchema>,
  "content"
> & { content: Content };
