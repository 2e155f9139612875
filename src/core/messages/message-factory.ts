import type * as z from "zod";
import { errorMessage, MessageError } from "../errors.ts";
import { issuesOf, listIssues, pathOf } from "../issues.ts";
import { isJsonObject } from "../json.ts";
import { formatPython } from "../text/format.ts";
import { agentEventSchemas } from "./agent-events.ts";
import { structuredMessageSchema } from "./chat-messages.ts";
import type { MessageOrigin } from "./create.ts";
import { readTime } from "./read-time.ts";
import { type Message, plainChatMessageSchema, unknownMessageSchema } from "./message.ts";

const SCHEMAS: ReadonlyMap<string, z.ZodType> = new Map(
  [...plainChatMessageSchema.options, ...agentEventSchemas].map((schema) => [
    schema.shape.type.value,
    schema,
  ]),
);

/**
 * Checks message JSON and fills in what may be left out (AutoGen `MessageFactory.create`): a missing `id` and
 * `created_at` come from `origin`, and `created_at` is read in each form that AutoGen reads. Keys a type does not have are dropped. A type this version does not know is kept
 * with all its keys, if it has the base fields.
 *
 * @param path path of the input for the issues: `task[0]`
 * @throws MessageError naming every field that is wrong
 */
export function loadMessage(input: unknown, origin: MessageOrigin, path = ""): Message {
  if (!isJsonObject(input)) throw invalid([{ path, message: "a message is a JSON object" }]);
  const { type } = input;
  if (typeof type !== "string") {
    const message =
      type === undefined
        ? `missing; a message says what it is, for example "TextMessage"`
        : "must be the name of a message type";
    throw invalid([{ path: pathOf(["type"], path), message }]);
  }
  const { id = origin.id(), created_at: given = origin.now() } = input;
  const created_at = readTime(given) ?? given;
  const result = schemaOf(type).safeParse({ ...input, id, created_at });
  if (!result.success) throw invalid(issuesOf(result.error, path));
  const message = result.data as Message;
  checkFormat(message, path);
  return message;
}

function schemaOf(type: string): z.ZodType {
  const existing = SCHEMAS.get(type);
  if (existing !== undefined) return existing;
  return type.startsWith("StructuredMessage[") ? structuredMessageSchema : unknownMessageSchema;
}

/** A format that does not fit the content would otherwise fail much later, when the message is shown. */
function checkFormat(message: Message, path: string): void {
  if (!("format_string" in message) || typeof message.format_string !== "string") return;
  if (!isJsonObject(message.content)) return;
  try {
    formatPython(message.format_string, message.content);
  } catch (error) {
    throw invalid([{ path: pathOf(["format_string"], path), message: errorMessage(error) }]);
  }
}

/** True for a complete message, as it is stored. */
export function isMessage(value: unknown): value is Message {
  if (!isJsonObject(value) || typeof value.type !== "string") return false;
  return schemaOf(value.type).safeParse(value).success;
}

function invalid(issues: { path: string; message: string }[]): MessageError {
  return new MessageError(`not a message: ${listIssues(issues)}`, { issues });
}
