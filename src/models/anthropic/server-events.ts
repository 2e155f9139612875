import type { EventSourceMessage } from "eventsource-parser";
import { APIError } from "@anthropic-ai/sdk/error";
import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";
import type { ReadEvent } from "../http/server-events.ts";

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
  const event = JSON.parse(data) as RawMessageStreamEvent | { type: "error" };
  if (event.type === "error") throw new APIError(undefined, event, undefined, headers);
  return event.type === "message_stop" ? { last: true } : { chunk: event };
}
