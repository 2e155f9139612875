import { answerSchema, type HumanRequest } from "../../../../contract/run.ts";
import { isJsonObject, type JsonObject } from "../../../../core/json.ts";
import type { RequestAnswer } from "../../shared/conversation.ts";
import { A2AError } from "../wire/errors.ts";
import { chatMessageOf } from "./chat-message.ts";
import type { SentMessage, SentPart } from "./params.ts";
import { parseParams } from "./params.ts";

const YES = /^(yes|y|ok|approve|approved)\b[.!]?$/i;
const NO = /^(no|n|reject|rejected|deny|denied)\b[.!]?$/i;

/**
 * The answers that a message gives: each data part with a `request_id` answers that question; anything else answers the
 * oldest one.
 *
 * @param open the questions, oldest first; at least one
 * @throws A2AError
 */
export function answersOf(message: SentMessage, open: readonly HumanRequest[]): RequestAnswer[] {
  const exact = message.parts.flatMap((part) => exactAnswer(part, open));
  if (exact.length > 0) return exact;
  const [oldest] = open as readonly [HumanRequest];
  return [{ request: oldest.id, answer: answerTo(oldest, message) }];
}

function exactAnswer({ data }: SentPart, open: readonly HumanRequest[]): RequestAnswer[] {
  if (!isJsonObject(data) || typeof data.request_id !== "string") return [];
  const { request_id, ...answer } = data;
  const question = open.find(({ id }) => id === request_id);
  if (question === undefined) {
    const ids = open.map(({ id }) => JSON.stringify(id)).join(", ");
    throw new A2AError(
      "INVALID_PARAMS",
      `request_id must be of an open question: ${ids}; it is ${JSON.stringify(request_id)}`,
    );
  }
  return [{ request: request_id, answer: parseParams(answerSchema, answer) as JsonObject }];
}

function answerTo({ kind }: HumanRequest, message: SentMessage): JsonObject {
  const said = chatMessageOf(message);
  if (kind !== "approval")
    return { content: typeof said.content === "string" ? said.content : said };
  const text = typeof said.content === "string" ? said.content.trim() : "";
  if (YES.test(text)) return { approved: true };
  if (NO.test(text)) return { approved: false };
  throw new A2AError(
    "INVALID_PARAMS",
    'The question is an approval: answer "yes" or "no", or with a data part { "request_id", "approved", "reason"?, "arguments"? }',
  );
}
