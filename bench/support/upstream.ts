// A model server that costs next to nothing: its answers are made in advance. Runs in a process of its own.
//
// The model's name says how it streams: `burst-2000` sends 2000 tokens at once, `words-60` sends 60, each in a write of its own,
// `paced-100-50` sends 100, one every 50 milliseconds. A paced token is the time at which it was sent, in microseconds of the
// machine's monotonic clock. A request that does not stream gets the complete reply.

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Bytes of one write: about what a socket takes at once. */
const WRITE_BYTES = 32 * 1024;

const HEAD = {
  id: "chatcmpl-bench",
  object: "chat.completion.chunk",
  created: 1_700_000_000,
  model: "bench",
};

function event(delta: object, finish_reason: string | null): string {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason }];
  return `data: ${JSON.stringify({ ...HEAD, choices, usage: null })}\n\n`;
}

const FIRST = event({ role: "assistant", content: "" }, null);
const LAST = `${event({}, "stop")}data: [DONE]\n\n`;
const TIME = "000000000000000";
const [beforeTime, afterTime] = event({ content: `${TIME} ` }, null).split(TIME);

/** Whole answers, in pieces of `WRITE_BYTES`. */
const bursts = new Map<number, Buffer[]>();

function burst(tokens: number): Buffer[] {
  let pieces = bursts.get(tokens);
  if (pieces === undefined) {
    const bytes = Buffer.from(FIRST + event({ content: "word " }, null).repeat(tokens) + LAST);
    pieces = [];
    for (let start = 0; start < bytes.length; start += WRITE_BYTES) {
      pieces.push(bytes.subarray(start, start + WRITE_BYTES));
    }
    bursts.set(tokens, pieces);
  }
  return pieces;
}

function sendWords(response: ServerResponse, tokens: number): void {
  const word = event({ content: "word " }, null);
  response.write(FIRST);
  let sent = 0;
  const send = (): void => {
    if (sent++ === tokens) {
      response.end(LAST);
      return;
    }
    response.write(word);
    setImmediate(send);
  };
  send();
}

function sendWhole(response: ServerResponse, tokens: number): void {
  const message = { role: "assistant", content: "word ".repeat(tokens), refusal: null };
  const usage = { prompt_tokens: 1, completion_tokens: tokens, total_tokens: tokens + 1 };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: "stop" }];
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ ...HEAD, object: "chat.completion", choices, usage }));
}

function sendBurst(response: ServerResponse, tokens: number): void {
  const pieces = burst(tokens);
  let next = 0;
  const send = (): void => {
    while (next < pieces.length) {
      if (!response.write(pieces[next++])) {
        response.once("drain", send);
        return;
      }
    }
    response.end();
  };
  send();
}

function sendPaced(response: ServerResponse, tokens: number, everyMs: number): void {
  response.write(FIRST);
  let sent = 0;
  // Streams that began together must not send together.
  setTimeout(() => {
    const timer = setInterval(() => {
      if (sent++ === tokens || response.destroyed) {
        clearInterval(timer);
        response.end(LAST);
        return;
      }
      const now = String(process.hrtime.bigint() / 1000n).padStart(TIME.length, "0");
      response.write(`${beforeTime}${now}${afterTime}`);
    }, everyMs);
  }, Math.random() * everyMs);
}

const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (text: string) => (body += text));
  request.on("end", () => {
    const { model, stream } = JSON.parse(body) as { model: string; stream?: boolean };
    const [kind, tokens = 0, everyMs = 0] = model
      .split("-")
      .map((part, index) => (index === 0 ? part : Number(part)));
    response.socket?.setNoDelay(true);
    if (stream !== true) {
      sendWhole(response, Number(tokens));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (kind === "paced") sendPaced(response, Number(tokens), Number(everyMs));
    else if (kind === "words") sendWords(response, Number(tokens));
    else sendBurst(response, Number(tokens));
  });
});
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ url: `http://127.0.0.1:${port}/v1` }));
});
