import type { EventSourceMessage } from "eventsource-parser";
import { APIError } from "openai/error";
import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import type { ReadEvent } from "../http/server-events.ts";

/** A part of a streamed chat completion; null for the last event, `[DONE]`. */
export type CompletionEvent = ChatCompletionChunk | null;

/**
 * Reads an event of a streamed chat completion.
 *
 * @throws SyntaxError for data that is not JSON
 * @throws APIError for an event that reports an error
 */
export function readEvent(
  { event, data }: EventSourceMessage,
  headers: Headers,
): ReadEvent<CompletionEvent> {
  if (data === "[DONE]") return { chunk: null, last: true };
  const chunk = JSON.parse(data) as ChatCompletionChunk & { error?: object };
  const error = event === "error" ? (chunk.error ?? chunk) : chunk.error;
  if (error) throw new APIError(undefined, error, undefined, headers);
  return { chunk };
}
