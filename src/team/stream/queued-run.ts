import type { RunInfo } from "../../contract/run.ts";
import { PING_FRAME } from "./frames.ts";

/**
 * Waits until a queued run has started or ended. Meanwhile its client gets the pings, so that the connection stays open.
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
  const writer = client.getWriter();
  const reader = native.getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return false;
      const frames = (rest + decoder.decode(value, { stream: true })).split("\n\n");
      rest = frames.pop() ?? "";
      for (const frame of frames) {
        if (saysBegun(frame)) return true;
        if (`${frame}\n\n` === PING_FRAME) await writer.write(ping);
      }
    }
  } finally {
    writer.releaseLock();
    void reader.cancel().catch(() => undefined); // It is broken already.
  }
}

function saysBegun(frame: string): boolean {
  const [, data] = /^event: run\n(?:id: \d+\n)?data: (.*)$/.exec(frame) ?? [];
  return data !== undefined && (JSON.parse(data) as RunInfo).status !== "queued";
}
