import { beforeAll, expect, test } from "vitest";
import { OpenAIChatCompletionClient } from "troupe";

const hello = [{ type: "UserMessage", source: "user", content: "Hi" }] as const;

/** A client whose server is `fetch`. */
function clientOf(fetch: (request: Request) => Response | Promise<Response>) {
  return new OpenAIChatCompletionClient(
    { model: "gpt-4o", apiKey: "key", baseURL: "https://models.example/v1" },
    { fetch: async (input, init) => fetch(new Request(input, init)) },
  );
}

const chunk = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

const events = { headers: { "content-type": "text/event-stream" } };

// Its modules come one by one, which takes long on a busy machine.
beforeAll(() => import("openai"), 120_000);

test("the OpenAI client answers in a Worker", async () => {
  const bodies: unknown[] = [];
  const client = clientOf(async (request) => {
    bodies.push(await request.json());
    return Response.json({ choices: [{ message: { content: "Hello" }, finish_reason: "stop" }] });
  });
  expect(await client.create(hello)).toMatchObject({ content: "Hello", finish_reason: "stop" });
  expect(bodies).toEqual([
    { model: "gpt-4o", messages: [{ role: "user", name: "user", content: "Hi" }] },
  ]);
});

test("the OpenAI client streams in a Worker", async () => {
  const client = clientOf(
    () =>
      new Response(
        `${chunk({ content: "Hel" })}${chunk({ content: "lo" })}${chunk({}, "stop")}data: [DONE]\n\n`,
        events,
      ),
  );
  const stream = client.createStream(hello);
  expect(await stream.next()).toEqual({ done: false, value: "Hel" });
  expect(await stream.next()).toEqual({ done: false, value: "lo" });
  expect(await stream.next()).toMatchObject({ done: true, value: { content: "Hello" } });
});

test("the OpenAI client stops in the middle of a stream in a Worker when it is cancelled", async () => {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const client = clientOf(() => new Response(readable, events));
  const controller = new AbortController();
  const stream = client.createStream(hello, { signal: controller.signal });
  const first = stream.next();
  await writer.write(new TextEncoder().encode(chunk({ content: "Hel" })));
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
