import { expect, test } from "vitest";
import { startFakeOpenAI } from "../../../../support/fake-openai/server.ts";
import { clientOf, collect, lastBody, serveOnce, user } from "../../support.ts";

test("usage is requested for streams, unless the config says otherwise", async () => {
  await using fake = await startFakeOpenAI();
  await collect(clientOf(fake).createStream([user("Hi")]));
  expect(lastBody(fake)).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  const without = clientOf(fake, { streamOptions: { includeUsage: false } });
  const { result } = await collect(without.createStream([user("Hi")]));
  expect(lastBody(fake)).not.toHaveProperty("stream_options");
  expect(result.usage).toEqual({ prompt_tokens: 0, completion_tokens: 0 });
  await without.create([user("Hi")]);
  expect(lastBody(fake)).not.toHaveProperty("stream");
});

test("streamed tool calls are separated if a server numbers them all alike or repeats the id", async () => {
  const call = (id: string | undefined, name: string | undefined, args: string) => ({
    choices: [
      { index: 0, delta: { tool_calls: [{ index: 0, id, function: { name, arguments: args } }] } },
    ],
  });
  const chunks = [
    call("a", "add", '{"x"'),
    call("a", undefined, ":1}"),
    call("b", "add", "{}"),
    { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
  ];
  await using server = await serveOnce((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(""));
  });
  const { result } = await collect(clientOf(server).createStream([user("Hi")]));
  expect(result.content).toEqual([
    { id: "a", name: "add", arguments: '{"x":1}' },
    { id: "b", name: "add", arguments: "{}" },
  ]);
});

test("the client reports when the pieces that arrived together were all yielded", async () => {
  const event = (delta: object, finish_reason: string | null = null): string =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const rest = Promise.withResolvers<void>();
  await using server = await serveOnce((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(event({ content: "one " }) + event({ content: "two " }));
    const last = `${event({ content: "three" }, "stop")}data: [DONE]\n\n`;
    void rest.promise.then(() => response.end(last));
  });
  const seen: string[] = [];
  const flush = (): void => {
    seen.push("flush");
    rest.resolve();
  };
  const pieces = clientOf(server).createStream([user("Hi")], { flush });
  for await (const piece of pieces) seen.push(piece);
  expect(seen.slice(0, 3)).toEqual(["one ", "two ", "flush"]);
  expect(seen).toContain("three");
});

test("several messages of one response are paragraphs, whole and streamed", async () => {
  const message = (id: string, ...texts: string[]) => ({
    id,
    type: "message",
    role: "assistant",
    status: "completed",
    content: texts.map((text) => ({ type: "output_text", text, annotations: [] })),
  });
  const output = [message("msg_1", "I look ", "it up."), message("msg_2", "It is so.")];
  const response = { id: "resp_1", status: "completed", output, usage: null };
  await using whole = await serveOnce((answer) => {
    answer.writeHead(200, { "content-type": "application/json" });
    answer.end(JSON.stringify(response));
  });
  const text = "I look it up.\n\nIt is so.";
  const { content } = await clientOf(whole, { api: "responses" }).create([user("Hi")]);
  expect(content).toBe(text);
  const events = [
    ...output.flatMap(({ id, content: parts }) =>
      parts.map((part) => ({ type: "response.output_text.delta", item_id: id, delta: part.text })),
    ),
    ...output.map((item) => ({ type: "response.output_item.done", item })),
    { type: "response.completed", response },
  ];
  await using streamed = await serveOnce((answer) => {
    answer.writeHead(200, { "content-type": "text/event-stream" });
    answer.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
  });
  const stream = clientOf(streamed, { api: "responses" }).createStream([user("Hi")]);
  const { pieces, result } = await collect(stream);
  expect(pieces.join("")).toBe(text);
  expect(result.content).toBe(text);
});
