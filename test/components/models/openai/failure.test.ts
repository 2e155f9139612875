import { expect, test } from "vitest";
import type { Fault } from "../../../support/fake-openai/rule.ts";
import { startFakeOpenAI } from "../../../support/fake-openai/server.ts";
import { clientOf, collect, serveOnce, user } from "../support.ts";

async function failure(fault: Fault): Promise<unknown> {
  await using fake = await startFakeOpenAI({ rules: [{ name: "fault", fault }] });
  return await collect(clientOf(fake).createStream([user("Hi")])).catch(
    (thrown: unknown) => thrown,
  );
}

const status = (code: number, rest: Partial<Fault>) =>
  ({ kind: "status", status: code, headers: {}, ...rest }) as Fault;

test("an error without credit left is not retried", async () => {
  expect(await failure(status(429, { code: "insufficient_quota" }))).toMatchObject({
    kind: "rate_limit",
    retryable: false,
    data: { provider_code: "insufficient_quota" },
  });
});

test("an error without credit left is recognised by its type, without a code", async () => {
  await using server = await serveOnce((response) => {
    response.writeHead(429, { "content-type": "application/json" });
    const error = { message: "You have no credit left.", type: "insufficient_quota", code: null };
    response.end(JSON.stringify({ error }));
  });
  await expect(clientOf(server).create([user("Hi")])).rejects.toMatchObject({
    kind: "rate_limit",
    retryable: false,
  });
});

test("a conversation that is too long is recognised by its code", async () => {
  expect(await failure(status(400, { code: "context_length_exceeded" }))).toMatchObject({
    kind: "context_length",
    retryable: false,
  });
});

test("a rate limit in the middle of a stream is an error with the time to wait", async () => {
  const fault = { kind: "error_event", after_chunks: 2, code: "rate_limit_exceeded" };
  expect(await failure({ ...fault, message: "Overloaded." } as Fault)).toMatchObject({
    kind: "rate_limit",
    message: expect.stringContaining("Overloaded.") as string,
  });
});

test("a page instead of a stream is an error, and the connection is closed", async () => {
  await using server = await serveOnce((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("<html><title>Bad gateway of Acme</title>");
  });
  await expect(collect(clientOf(server).createStream([user("Hi")]))).rejects.toMatchObject({
    kind: "bad_response",
    message: expect.stringContaining("Bad gateway of Acme") as string,
  });
  await server.left;
});

test.each(["queued", "in_progress", "cancelled"])(
  "a response that is %s is an error",
  async (state) => {
    await using server = await serveOnce((response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ id: "resp_1", status: state, output: [] }));
    });
    const asked = clientOf(server, { api: "responses" }).create([user("Hi")]);
    await expect(asked).rejects.toMatchObject({ kind: "bad_response" });
  },
);

test.each([
  ["server_error", "server", true],
  ["rate_limit_exceeded", "rate_limit", true],
  ["model_overloaded", "server", true],
  ["vector_store_timeout", "server", true],
  ["invalid_prompt", "bad_request", false],
  ["unsupported_image_media_type", "bad_request", false],
  ["failed_to_download_image", "bad_request", false],
  ["image_content_policy_violation", "refused", false],
])(
  "a response that failed by %s is an error, whole and streamed",
  async (code, kind, retryable) => {
    const failed = {
      id: "resp_1",
      status: "failed",
      error: { code, message: "It failed." },
      output: [],
    };
    await using whole = await serveOnce((response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(failed));
    });
    await expect(clientOf(whole, { api: "responses" }).create([user("Hi")])).rejects.toMatchObject({
      kind,
      retryable,
      message: expect.stringContaining("It failed.") as string,
    });
    await using streamed = await serveOnce((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(`data: ${JSON.stringify({ type: "response.failed", response: failed })}\n\n`);
    });
    const stream = clientOf(streamed, { api: "responses" }).createStream([user("Hi")]);
    await expect(collect(stream)).rejects.toMatchObject({ kind, retryable });
  },
);
