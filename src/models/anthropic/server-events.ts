import type { EventSourceMessage } from "eventsource-parser";
import { APIError } from "@anthropic-ai/sdk/error";
import type { ErrorType } from "@anthropic-ai/sdk/resources/shared";
import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";
import type { ReadEvent } from "../http/server-events.ts";

interface ErrorEvent {
  type: "error";
  error?: { type?: ErrorType };
}

/**
 * Reads an event of a streamed message.
 *
 * @throws SyntaxError for data that is not JSON
 * @throws APIError for an event that reports an error
 */
export function readEvent(
  { data }: EventSourceMessage,
  headers: Headers,
): ReadEvent<RawMessageStreamEvent> {
  const event = JSON.parse(data) as RawMessageStreamEvent | ErrorEvent;
  if (event.type === "error")
    throw new APIError(undefined, event, undefined, headers, event.error?.type);
  return event.type === "message_stop" ? { last: true } : { chunk: event };
}
