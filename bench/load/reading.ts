import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { percentile } from "../support/statistics.ts";
import type { Command, Delays, StreamRequest } from "./readers.ts";

// Reads many streams in a process of its own. Nothing is parsed but the times in the tokens, so that the reader is not what limits.
// Commands are lines of JSON on the input; each is answered with a line.

/** A token of `upstream.ts`: the time at which it was sent, in microseconds. */
const TIME = /(?<!\d)(0\d{14}) /g;
const BUFFER_BYTES = 16 * 1024;
/** After the last request. */
const OPEN_MS = 30_000;
/** Tokens that were sent in time may take so long. */
const GRACE_MS = 1_000;

const sockets: Socket[] = [];
/** Tokens that were sent in this time are counted. */
let [from, to] = [0, 0];
let delays: number[] = [];
/** When the last stream had each token, and how many have it. */
const arrivals = new Map<number, { streams: number; last: number }>();

function now(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

/** Resolves when the head of the answer is there. */
function open(port: number, { method, path, headers, body }: StreamRequest): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let newest = 0;
  let opened = false;
  const read = (length: number, bytes: Uint8Array): boolean => {
    const at = now();
    const data = Buffer.from(bytes.buffer, bytes.byteOffset, length);
    if (!opened) {
      opened = true;
      const head = data.toString("latin1");
      if (/^HTTP\/1\.1 (200|101) /.test(head)) resolve();
      else reject(new Error(head));
    }
    if (at < from) return true;
    for (const [, digits] of data.toString("latin1").matchAll(TIME)) {
      const sent = Number(digits);
      // The whole message repeats its pieces.
      if (sent <= newest) continue;
      newest = sent;
      if (sent >= from && sent <= to) arrived(sent, at);
    }
    return true;
  };
  const socket = connect({
    host: "127.0.0.1",
    port,
    onread: { buffer: Buffer.alloc(BUFFER_BYTES), callback: read },
  });
  socket.on("error", reject);
  // Without effect on a stream that has been opened.
  socket.on("close", () =>
    reject(new Error(`${path}: the connection was closed without an answer`)),
  );
  sockets.push(socket);
  const lines = [
    `${method} ${path} HTTP/1.1`,
    "host: 127.0.0.1",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : [`content-length: ${Buffer.byteLength(body)}`]),
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n${body ?? ""}`);
  return promise;
}

function arrived(sent: number, at: number): void {
  delays.push((at - sent) / 1000);
  const token = arrivals.get(sent);
  if (token === undefined) arrivals.set(sent, { streams: 1, last: at });
  else {
    token.streams++;
    token.last = at;
  }
}

/** Opens streams. Resolves to the number that were answered: all of them, or those in time. */
async function openAll({
  port,
  requests,
  everyMs,
}: Extract<Command, { port: number }>): Promise<number> {
  const started = performance.now();
  let answered = 0;
  const heads: Promise<void>[] = [];
  for (const [index, request] of requests.entries()) {
    const wait = started + index * everyMs - performance.now();
    if (wait > 0) await sleep(wait);
    heads.push(open(port, request).then(() => void answered++));
  }
  await Promise.race([Promise.all(heads), sleep(OPEN_MS)]);
  return answered;
}

/** The delays of the tokens that are sent in the next `ms`. */
async function measure(ms: number): Promise<Delays> {
  delays = [];
  arrivals.clear();
  from = now();
  to = from + ms * 1000;
  const before = process.cpuUsage();
  await sleep(ms);
  const { user, system } = process.cpuUsage(before);
  // The last tokens are still on their way.
  await sleep(GRACE_MS);
  const all = [...arrivals].flatMap(([sent, { streams, last }]) =>
    streams === sockets.length ? [(last - sent) / 1000] : [],
  );
  return {
    tokens: delays.length,
    median: delays.length > 0 ? percentile(delays, 0.5) : Number.NaN,
    p99: delays.length > 0 ? percentile(delays, 0.99) : Number.NaN,
    reachedAll: all,
    cpu: (user + system) / 1000 / ms,
  };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function answer(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

answer({});
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line) as Command;
  if ("port" in command) {
    answer({ opened: await openAll(command) });
  } else {
    answer(await measure(command.measureMs));
  }
}
