import { expect, test } from "vitest";
import type { Fault } from "../../support/fake-openai/rule.ts";
import { startFakeOpenAI } from "../../support/fake-openai/server.ts";
import { clientOf, collect, serveOnce, user } from "../support.ts";

async function failure(fault: Fault): Promise<unknown> {
  await using fake = await startFakeOpenAI({ rules: [{ name: "fault", fault }] });
  return await collect(clientOf(fake).createStream([user("Hi")])).catch(
    (thrown: unknown) => thrown,
  );
}

const status = (code: number, rest: Partial<Fault>) =>
  ({ kind: "status", status: code, headers: {}, ...rest }) as Fault;

test("no credit left: another attempt makes no sense", async () => {
  expect(await failure(status(429, { code: "insufficient_quota" }))).toMatchObject({
    kind: "rate_limit",
    retryable: false,
    data: { provider_code: "insufficient_quota" },
  });
});

test("a conversation that is too long, by its code", async () => {
  expect(await failure(status(400, { code: "context_length_exceeded" }))).toMatchObject({
    kind: "context_length",
    retryable: false,
  });
});

test("a rate limit in the middle of a stream", async () => {
  const fault = { kind: "error_event", after_chunks: 2, code: "rate_limit_exceeded" };
  expect(await failure({ ...fault, message: "Overloaded." } as Fault)).toMatchObject({
    kind: "rate_limit",
    message: expect.stringContaining("Overloaded.") as string,
  });
});

test("a JSON answer instead of a stream, and the connection is closed", async () => {
  await using server = await serveOnce((response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write('{"choices":');
  });
  await expect(collect(clientOf(server).createStream([user("Hi")]))).rejects.toMatchObject({
    kind: "bad_response",
    message: expect.stringContaining("application/json") as string,
  });
  await server.left;
});
