import { createParser } from "eventsource-parser";

/** A frame of a stream; `id` only of recorded ones. */
export interface Frame {
  id: number | undefined;
  /** Undefined for items of the run; else what the frame says of the service. */
  event: string | undefined;
  data: Record<string, unknown>;
}

/**
 * Reads one connection to its end and hands on each frame. Returns the status; throws when the connection breaks.
 */
export async function readStream(
  url: string,
  options: {
    lastEventId?: number;
    onFrame(frame: Frame): void;
    onOpen?(): void;
    signal?: AbortSignal;
    /** For a POST that streams. */
    post?: unknown;
    headers?: Readonly<Record<string, string>>;
  },
): Promise<number> {
  const { lastEventId, onFrame, onOpen, signal, post, headers } = options;
  const response = await fetch(url, {
    method: post === undefined ? "GET" : "POST",
    headers: {
      ...headers,
      accept: "text/event-stream",
      ...(lastEventId !== undefined && { "last-event-id": String(lastEventId) }),
      ...(post !== undefined && { "content-type": "application/json" }),
    },
    ...(post !== undefined && { body: JSON.stringify(post) }),
    ...(signal && { signal }),
  });
  if (response.status !== 200) {
    const text = await response.text();
    if (response.status !== 204) throw new Error(`${url} answered ${response.status}: ${text}`);
    return response.status;
  }
  onOpen?.();
  const parser = createParser({
    onEvent: ({ id, event, data }) =>
      onFrame({
        id: id === undefined ? undefined : Number(id),
        event,
        data: JSON.parse(data) as Record<string, unknown>,
      }),
  });
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    parser.feed(decoder.decode(bytes as Uint8Array, { stream: true }));
  }
  return response.status;
}

/** Whether nothing may come after this frame. */
export function isTerminal({ event, data }: Frame): boolean {
  if (event === undefined) return data.type === "TaskResult";
  return event === "failed" || (event === "run" && data.status === "cancelled");
}
