import * as z from "zod";
import { agentEventSchema, plainChatMessageSchema } from "../core/messages/message.ts";
import type { Message } from "../core/messages/message.ts";
import { structuredMessageSchema } from "../core/messages/chat-messages.ts";

/** Any message or event of a thread or stream. */
export const messageSchema: z.ZodType<Message> = z.union([
  plainChatMessageSchema,
  structuredMessageSchema,
  agentEventSchema,
]);

/** The schemas with a name of their own in the OpenAPI document. */
export const namedMessageSchemas: readonly { name: string; schema: z.ZodType }[] = [
  ...plainChatMessageSchema.options,
  ...agentEventSchema.options,
].map((schema) => ({ name: schema.shape.type.value, schema }));
