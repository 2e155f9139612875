import { expect, test } from "vitest";
import { AnthropicChatCompletionClient } from "troupe";

const hello = [{ type: "UserMessage", source: "user", content: "Hi" }] as const;

/** A client whose server is `fetch`. */
const clientOf = (fetch: (request: Request) => Response | Promise<Response>) =>
  new AnthropicChatCompletionClient(
    { model: "claude-sonnet-4-5", apiKey: "key", baseURL: "https://claude.example", cache: "off" },
    { fetch: async (input, init) => fetch(new Request(input, init)) },
  );

const event = (data: { type: string; [key: string]: unknown }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

const piece = (text: string): string =>
  event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });

const events = { headers: { "content-type": "text/event-stream" } };

test("the Anthropic client answers in a Worker", async () => {
  const requests: unknown[] = [];
  const client = clientOf(async (request) => {
    requests.push([request.url, request.headers.get("x-api-key"), await request.json()]);
    return Response.json({ content: [{ type: "text", text: "Hello" }], stop_reason: "end_turn" });
  });
  expect(await client.create(hello)).toMatchObject({ content: "Hello", finish_reason: "stop" });
  expect(requests).toEqual([
    [
      "https://claude.example/v1/messages",
      "key",
      {
        model: "claude-sonnet-4-5",
        messages: [{ role: "user", content: "Hi" }],
        max_tokens: 4096,
      },
    ],
  ]);
});

test("the Anthropic client streams in a Worker", async () => {
  const end = event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: {} });
  const client = clientOf(
    () => new Response(piece("Hel") + piece("lo") + end + event({ type: "message_stop" }), events),
  );
  const stream = client.createStream(hello);
  expect(await stream.next()).toEqual({ done: false, value: "Hel" });
  expect(await stream.next()).toEqual({ done: false, value: "lo" });
  expect(await stream.next()).toMatchObject({ done: true, value: { content: "Hello" } });
});

test("the Anthropic client stops in the middle of a stream in a Worker when it is aborted", async () => {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const client = clientOf(() => new Response(readable, events));
  const controller = new AbortController();
  const stream = client.createStream(hello, { signal: controller.signal });
  const first = stream.next();
  await writer.write(new TextEncoder().encode(piece("Hel")));
  expect(await first).toMatchObject({ value: "Hel" });
  const second = stream.next();
  controller.abort(new Error("stop it"));
  await expect(second).rejects.toThrow("stop it");
  const end = writer.closed.then(
    () => "complete",
    () => "cancelled",
  );
  expect(await end).toBe("cancelled");
});
