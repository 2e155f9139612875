import { createParser } from "eventsource-parser";
import type { RunInfo } from "../../contract/run.ts";
import { PING_FRAME } from "./frames.ts";

/**
 * Waits until a queued run has begun or has ended. Meanwhile its client gets the pings, so that the connection stays open.
 *
 * @param native the frames of the run
 * @returns false if they end before
 * @throws an error when the client has disconnected
 */
export async function untilBegun(
  native: ReadableStream<Uint8Array>,
  client: WritableStream<Uint8Array>,
): Promise<boolean> {
  const decoder = new TextDecoder();
  const ping = new TextEncoder().encode(PING_FRAME);
  let hasBegun = false;
  let pings = 0;
  const parser = createParser({
    onEvent: ({ event, data }) => {
      if (event === "run") hasBegun ||= (JSON.parse(data) as RunInfo).status !== "queued";
    },
    onComment: () => void pings++,
  });
  const writer = client.getWriter();
  const reader = native.getReader();
  try {
    while (!hasBegun) {
      const { done, value } = await reader.read();
      if (done) return false;
      parser.feed(decoder.decode(value, { stream: true }));
      for (; pings > 0; pings--) await writer.write(ping);
    }
    return true;
  } finally {
    writer.releaseLock();
    void reader.cancel().catch(() => undefined); // It is broken already.
  }
}
