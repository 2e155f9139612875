import type { HumanRequest, RunInfo } from "../../contract/run.ts";
import { PING_FRAME } from "./frames.ts";

/** Statuses in which the streams of a run in the formats of protocols have no end and nothing to send. */
const IDLE_STATUSES: ReadonlySet<RunInfo["status"]> = new Set<RunInfo["status"]>([
  "queued",
  "paused",
]);

/**
 * Waits until a run that is queued or paused continues or has ended. Meanwhile its client gets the pings, so that the connection stays open.
 *
 * @param native the frames of the run
 * @returns what the run asked while it rested; undefined if its frames end before
 * @throws an error when the client has disconnected
 */
export async function untilContinues(
  native: ReadableStream<Uint8Array>,
  client: WritableStream<Uint8Array>,
): Promise<readonly HumanRequest[] | undefined> {
  const decoder = new TextDecoder();
  const ping = new TextEncoder().encode(PING_FRAME);
  const writer = client.getWriter();
  const reader = native.getReader();
  let asked: readonly HumanRequest[] = [];
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return undefined;
      const frames = (rest + decoder.decode(value, { stream: true })).split("\n\n");
      rest = frames.pop() ?? "";
      for (const frame of frames) {
        const run = runIn(frame);
        if (run !== undefined && !IDLE_STATUSES.has(run.status)) return asked;
        asked = run?.requests ?? asked;
        if (`${frame}\n\n` === PING_FRAME) await writer.write(ping);
      }
    }
  } finally {
    writer.releaseLock();
    void reader.cancel().catch(() => undefined); // It is broken already.
  }
}

function runIn(frame: string): RunInfo | undefined {
  const [, data] = /^event: run\n(?:id: \d+\n)?data: (.*)$/.exec(frame) ?? [];
  return data === undefined ? undefined : (JSON.parse(data) as RunInfo);
}
