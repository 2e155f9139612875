import { expect, test } from "vitest";
import { OllamaChatCompletionClient } from "troupe";

const hello = [{ type: "UserMessage", source: "user", content: "Hi" }] as const;

/** A client whose server is `fetch`. */
const clientOf = (fetch: (request: Request) => Response | Promise<Response>) =>
  new OllamaChatCompletionClient(
    { model: "qwen3", host: "https://ollama.example", options: { num_ctx: 8192 } },
    { fetch: async (input, init) => fetch(new Request(input, init)) },
  );

const line = (content: string, rest: object = { done: false }): string =>
  `${JSON.stringify({ message: { role: "assistant", content }, ...rest })}\n`;

test("the Ollama client answers in a Worker", async () => {
  const bodies: unknown[] = [];
  const client = clientOf(async (request) => {
    bodies.push(await request.json());
    return new Response(line("Hello", { done: true, done_reason: "stop" }));
  });
  expect(await client.create(hello)).toMatchObject({ content: "Hello", finish_reason: "stop" });
  expect(bodies).toMatchObject([{ model: "qwen3", options: { num_ctx: 8192 } }]);
});

test("the Ollama client streams in a Worker", async () => {
  const client = clientOf(
    () => new Response(line("Hel") + line("lo") + line("", { done: true, done_reason: "stop" })),
  );
  const stream = client.createStream(hello);
  expect(await stream.next()).toEqual({ done: false, value: "Hel" });
  expect(await stream.next()).toEqual({ done: false, value: "lo" });
  expect(await stream.next()).toMatchObject({ done: true, value: { content: "Hello" } });
});

test("the Ollama client stops in the middle of a stream in a Worker when it is aborted", async () => {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const client = clientOf(() => new Response(readable));
  const controller = new AbortController();
  const stream = client.createStream(hello, { signal: controller.signal });
  const first = stream.next();
  await writer.write(new TextEncoder().encode(line("Hel")));
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

test("the Ollama client abandons an answer that never ends in time, whole or streamed", async () => {
  const stalled = () =>
    new Response(new ReadableStream({ start: (c) => c.enqueue(new TextEncoder().encode("{")) }));
  const options = { extraCreateArgs: { timeout: 0.1 } };
  const client = clientOf(stalled);
  await expect(client.create(hello, options)).rejects.toMatchObject({ kind: "timeout" });
  await expect(client.createStream(hello, options).next()).rejects.toMatchObject({
    kind: "timeout",
  });
});
