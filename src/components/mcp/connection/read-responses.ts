import { createParser } from "eventsource-parser";
import { isJsonObject, type Json } from "../../../core/json.ts";
import type { ServerMessages } from "../answers/server-messages.ts";

export function isEventStream({ headers }: Response): boolean {
  return headers.get("content-type")?.startsWith("text/event-stream") ?? false;
}

/** A response of the server with its messages as the SDK takes them. Others than messages stay as they are. */
export async function readResponse(
  response: Response,
  messages: ServerMessages,
): Promise<Response> {
  const { status, statusText } = response;
  if (response.body === null) return response;
  const headers = new Headers(response.headers);
  headers.delete("content-length");
  if (isEventStream(response)) {
    return new Response(readEvents(response.body, messages), { status, statusText, headers });
  }
  const text = await response.text();
  const asItIs = (): Response => new Response(text, { status, statusText, headers });
  let read: Json[];
  try {
    read = messages.read(text);
  } catch (error) {
    if (error instanceof SyntaxError) return asItIs();
    throw error;
  }
  const [first, ...others] = read;
  // A list that the server does not know has become an empty one.
  if (!response.ok && !(isJsonObject(first) && "result" in first)) return asItIs();
  headers.set("content-type", "application/json");
  return new Response(JSON.stringify(others.length === 0 ? first : read), { headers });
}

/** Reads only on demand, and ends with its reader. */
function readEvents(body: ReadableStream<Uint8Array>, messages: ServerMessages) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const pending: string[] = [];
  const parser = createParser({
    onEvent: ({ id, event, data }) => {
      const named = event === undefined ? "" : `event: ${event}\n`;
      const head = id === undefined ? named : `id: ${id}\n${named}`;
      for (const one of dataOf(event, data, messages)) {
        const lines = one.split("\n").map((line) => `data: ${line}\n`);
        pending.push(`${head}${lines.join("")}\n`);
      }
    },
    onRetry: (retry) => void pending.push(`retry: ${retry}\n\n`),
  });
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      let isOver = false;
      while (pending.length === 0 && !isOver) {
        const { done, value } = await reader.read();
        // Some servers leave out the empty line after their last event.
        parser.feed(done ? "\n\n" : decoder.decode(value, { stream: true }));
        isOver = done;
      }
      if (pending.length > 0) controller.enqueue(encoder.encode(pending.splice(0).join("")));
      if (isOver) controller.close();
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

function dataOf(event: string | undefined, data: string, messages: ServerMessages): string[] {
  if (event !== undefined && event !== "message") return [data];
  try {
    return messages.read(data).map((message) => JSON.stringify(message));
  } catch (error) {
    if (error instanceof SyntaxError) return [data];
    throw error;
  }
}
