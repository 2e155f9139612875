import * as z from "zod";
import { agentEventSchemas } from "./agent-events.ts";
import { baseMessageSchema } from "./base.ts";
import {
  handoffMessageSchema,
  multiModalMessageSchema,
  stopMessageSchema,
  type StructuredMessage,
  textMessageSchema,
  toolCallSummaryMessageSchema,
} from "./chat-messages.ts";

const chatMessageSchemas = [
  textMessageSchema,
  multiModalMessageSchema,
  stopMessageSchema,
  handoffMessageSchema,
  toolCallSummaryMessageSchema,
] as const;

/** The chat messages with a fixed type; structured messages have a type per schema. */
export const plainChatMessageSchema = z.discriminatedUnion("type", chatMessageSchemas);

/** A message between agents (AutoGen `BaseChatMessage`). Immutable. */
export type ChatMessage = z.infer<typeof plainChatMessageSchema> | StructuredMessage;

export const agentEventSchema = z.discriminatedUnion("type", agentEventSchemas);

/** Events inside an agent or a manager (AutoGen `BaseAgentEvent`). Immutable. */
export type AgentEvent = z.infer<typeof agentEventSchema>;

/** Any item of a stream. */
export type Message = ChatMessage | AgentEvent;

/** A message of a type this version does not know, kept unchanged. */
export const unknownMessageSchema = z.looseObject({ ...baseMessageSchema.shape, type: z.string() });
