import * as z from "zod";
import { agentEventSchema, plainChatMessageSchema } from "../core/messages/message.ts";
import type { Message } from "../core/messages/message.ts";
import { structuredMessageSchema } from "../core/messages/chat-messages.ts";

/** A type with a name, so that declarations of the schemas made of it import it from here. */
export interface MessageSchema extends z.ZodType<Message> {}

/** Any message or event of a thread or stream. */
export const messageSchema: MessageSchema = z.union([
  plainChatMessageSchema,
  structuredMessageSchema,
  agentEventSchema,
]);

/** The schemas with a name of their own in the OpenAPI document. */
export const namedMessageSchemas: readonly { name: string; schema: z.ZodType }[] = [
  ...plainChatMessageSchema.options,
  ...agentEventSchema.options,
].map((schema) => ({ name: schema.shape.type.value, schema }));
