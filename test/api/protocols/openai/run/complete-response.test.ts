import { expect, test } from "vitest";
import { completeResponse } from "#api/protocols/openai/run/complete-response.ts";

const PING = ": ping\n\n";

/** A stream that breaks off after its text, or ends. */
function streamOf(text: string, breaks: boolean): { body: ReadableStream<Uint8Array> } {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
      if (breaks) controller.error(new TypeError("the object was moved"));
      else controller.close();
    },
  });
  return { body };
}

test("a request without a stream outlives the streams of its team", async () => {
  const answer = `data: ${JSON.stringify({ status: 200, body: { id: "resp_a.b" } })}\n\n`;
  const streams = [
    streamOf(PING, false),
    streamOf(PING, true),
    streamOf(PING + PING + answer, false),
  ];
  let opened = 0;
  const open = async () => streams[opened++]!;
  const response = await completeResponse(await open(), open, new AbortController().signal);
  expect(opened).toBe(3);
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ id: "resp_a.b" });
});

test("a run that failed has an error that clients do not retry", async () => {
  const answer = `data: ${JSON.stringify({ status: 400, body: { error: {} } })}\n\n`;
  const opened = streamOf(answer, false);
  const response = await completeResponse(opened, async () => opened, new AbortController().signal);
  expect(response.status).toBe(400);
  expect(response.headers.get("x-should-retry")).toBe("false");
});

test("a client that disconnects ends the request", async () => {
  const open = async () => streamOf(PING, false);
  const left = completeResponse(await open(), open, AbortSignal.timeout(50));
  await expect(left).rejects.toThrow();
});
