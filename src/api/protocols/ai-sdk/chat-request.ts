import * as z from "zod";
import { startRunSchema } from "../../../contract/run.ts";
import { isJsonObject } from "../../../core/json.ts";
import { issuesOf } from "../../../core/issues.ts";
import { invalid } from "../../http/endpoint/problem.ts";

const partSchema = z.looseObject({ type: z.string() });

const messageSchema = z.object({
  id: z.string().min(1).max(200),
  role: z.enum(["system", "user", "assistant"]),
  parts: z.array(partSchema),
  metadata: z.unknown().optional(),
});

/** The body that `DefaultChatTransport` sends. Applications add fields of their own to it, so unknown fields are allowed. */
const chatSchema = z.object({
  id: z.string().max(1000),
  messages: z.array(messageSchema).min(1),
  trigger: z.enum(["submit-message", "regenerate-message"]).default("submit-message"),
  messageId: z.string().nullish(),
  tools: startRunSchema.shape.tools,
  /** Left out, a message while a run is active goes into the run. */
  on_conflict: startRunSchema.shape.on_conflict.removeDefault().default("steer"),
});

export type UIPart = z.infer<typeof partSchema>;
export type UIMessage = z.infer<typeof messageSchema>;

export interface ChatRequest extends z.infer<typeof chatSchema> {
  /** The new message: a user's, or an assistant's with answers to its questions. */
  message: UIMessage;
  /** The path of the message in the body. */
  path: string;
}

/** The answer to clients of text streams: `TextStreamChatTransport` and `useCompletion`. */
export const NO_TEXT_STREAM =
  "This is a UI message stream. A stream of plain text has no place for questions, tools and errors: use DefaultChatTransport instead of TextStreamChatTransport, and useChat instead of useCompletion.";

/** @throws ProblemError 422 */
export function parseChat(body: unknown): ChatRequest {
  if (isJsonObject(body) && "prompt" in body && !("messages" in body)) {
    const errors = [{ path: "messages", message: "is missing" }];
    throw invalid("no_text_stream", NO_TEXT_STREAM, errors);
  }
  const result = chatSchema.safeParse(body);
  if (!result.success)
    throw invalid("invalid_request", "The body is invalid.", issuesOf(result.error));
  const { data } = result;
  const { messages, messageId } = data;
  // Version 7 sends answers to an earlier message, too, and then names it.
  const named = messages.findIndex(({ id, role }) => id === messageId && role === "assistant");
  const index = named !== -1 && data.trigger === "submit-message" ? named : messages.length - 1;
  const message = messages[index] as UIMessage;
  const path = `messages[${index}]`;
  if (message.role === "system") throw refused(path, "must be of the user or the assistant");
  if (data.trigger === "regenerate-message" && message.role !== "user")
    throw refused(path, "must be of the user, whose message is tried again");
  return { ...data, message, path };
}

function refused(path: string, message: string): Error {
  return invalid("invalid_request", "The body is invalid.", [{ path: `${path}.role`, message }]);
}
