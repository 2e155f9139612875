/** Measurements of one stream. Times are in milliseconds. */
export interface Received {
  tokens: number;
  /** From the request to the first token. */
  first: number;
  /** How long each token that carries its time was on the way. */
  delays: number[];
}

/** The mark of a token in the bytes: pieces of text, not the whole message that follows them. */
const TOKEN = { raw: '"content":"', frame: 'StreamingChunkEvent"' };
const TIME = /"content":"(\d{15}) "(?!.*"type":"TextMessage")/g;

/**
 * Reads a stream to its end.
 *
 * @param kind whether these are the server's own events or frames
 * @param timed whether tokens carry the time at which they were sent
 */
export async function receive(
  open: () => Promise<Response>,
  kind: "raw" | "frame",
  timed: boolean,
): Promise<Received> {
  const started = performance.now();
  const response = await open();
  if (!response.ok || response.body === null) {
    throw new Error(`${response.status} ${await response.text()}`);
  }
  const mark = Buffer.from(TOKEN[kind]);
  const received: Received = { tokens: 0, first: 0, delays: [] };
  let rest = Buffer.alloc(0);
  for await (const part of response.body as AsyncIterable<Uint8Array>) {
    const bytes = rest.length === 0 ? Buffer.from(part) : Buffer.concat([rest, part]);
    const end = bytes.lastIndexOf("\n\n") + 2;
    if (end === 1) {
      rest = bytes;
      continue;
    }
    const whole = bytes.subarray(0, end);
    rest = bytes.subarray(end);
    const now = Number(process.hrtime.bigint() / 1000n);
    for (let at = whole.indexOf(mark); at !== -1; at = whole.indexOf(mark, at + mark.length)) {
      received.tokens++;
    }
    if (received.first === 0 && received.tokens > (kind === "raw" ? 1 : 0)) {
      received.first = performance.now() - started;
    }
    if (timed) {
      for (const [, time] of whole.toString("latin1").matchAll(TIME)) {
        received.delays.push((now - Number(time)) / 1000);
      }
    }
  }
  return received;
}
