import { beforeAll, describe, expect, test, vi } from "vitest";
import { type ChatCompletionClient, ModelError } from "troupe";
import type { Fault } from "../../../support/fake-openai/rule.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../../support/fake-openai/server.ts";
import { collect, user } from "../support.ts";
import { CLIENTS, type ClientSettings, type TestedClient } from "./clients.ts";

type Way = "create" | "createStream";

function ask(client: ChatCompletionClient, way: Way, signal?: AbortSignal): Promise<unknown> {
  const options = signal === undefined ? {} : { signal };
  return way === "create"
    ? client.create([user("Hi")], options)
    : collect(client.createStream([user("Hi")], options));
}

const status = (code: number, rest: Partial<Fault> = {}) =>
  ({ kind: "status", status: code, headers: {}, ...rest }) as Fault;

/** Waits until the client of the only request has gone away. */
const left = (fake: FakeOpenAI): Promise<void> =>
  fake.log.until(([request]) => request?.state === "aborted");

/** The error of a client whose server has a fault. */
async function failureOf(
  connect: TestedClient["connect"],
  fault: Fault,
  way: Way,
  settings: ClientSettings = {},
): Promise<ModelError> {
  await using fake = await startFakeOpenAI({
    rules: [{ name: "fault", reply: { words: 20 }, fault }],
  });
  const client = connect(fake.origin, settings);
  const error: unknown = await ask(client, way).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ModelError);
  expect(fake.requests).toHaveLength(1);
  return error as ModelError;
}

// Timeouts are real here, and long enough for a busy machine: all clients wait at the same time.
vi.setConfig({ maxConcurrency: 3 * CLIENTS.length });
describe.concurrent("the time of an answer", () => {
  // The first request imports the SDK, which takes a busy machine longer than the timeouts below.
  beforeAll(async () => {
    await using fake = await startFakeOpenAI({ rules: [{ name: "first", reply: { words: 1 } }] });
    await Promise.all(CLIENTS.map(({ connect }) => ask(connect(fake.origin), "create")));
  });

  const each = CLIENTS.flatMap(({ name, connect }) =>
    (["create", "createStream"] as const).map((way) => ({ name, way, connect })),
  );
  test.each(each)("has a limit for a server that stalls: $name, $way", async ({ connect, way }) => {
    const stall: Fault = { kind: "stall", after_chunks: 3 };
    expect(await failureOf(connect, stall, way, { timeout: 1.5 })).toMatchObject({
      kind: "timeout",
      retryable: true,
    });
  });

  test.each(CLIENTS)(
    "has no limit for a slow stream of $name that keeps coming",
    async ({ connect }) => {
      await using fake = await startFakeOpenAI({
        rules: [{ name: "slow", reply: { words: 20 }, pace_ms: 200 }],
      });
      const { result } = await collect(
        connect(fake.origin, { timeout: 3 }).createStream([user("Hi")]),
      );
      expect(result.content).toMatch(/^word0 .* word19$/);
    },
  );
});

describe.each(CLIENTS)("$name", ({ connect, secrets }) => {
  const failure = (fault: Fault, way: Way, settings?: ClientSettings): Promise<ModelError> =>
    failureOf(connect, fault, way, settings);

  describe.each<Way>(["create", "createStream"])("%s", (way) => {
    test.each([
      [400, "bad_request", false],
      [401, "auth", false],
      [403, "auth", false],
      [404, "bad_request", false],
      [408, "timeout", true],
      [409, "server", true],
      [422, "bad_request", false],
      [429, "rate_limit", true],
      [500, "server", true],
      [503, "server", true],
      [529, "server", true],
    ])("status %i is %s, worth another attempt: %s", async (code, kind, retryable) => {
      expect(await failure(status(code), way)).toMatchObject({
        kind,
        retryable,
        status: code,
        code: `model_${kind}`,
      });
    });

    test("Retry-After is read in seconds, milliseconds or as a date", async () => {
      const wait = async (headers: Record<string, string>) =>
        (await failure(status(429, { headers }), way)).retryAfterMs;
      expect(await wait({ "retry-after": "2" })).toBe(2000);
      expect(await wait({ "retry-after-ms": "350", "retry-after": "1" })).toBe(350);
      expect(await wait({ "retry-after": new Date(0).toUTCString() })).toBe(0);
      const date = new Date(Date.now() + 60_000).toUTCString();
      expect(await wait({ "retry-after": date })).toBeGreaterThan(50_000);
      expect(await wait({ "retry-after": "soon" })).toBeUndefined();
      expect(await wait({})).toBeUndefined();
    });

    test("the server's word that another attempt is useless ends the attempts", async () => {
      const headers = { "x-should-retry": "false" };
      expect(await failure(status(500, { headers }), way)).toMatchObject({ retryable: false });
    });

    test("a conversation that is too long is an error of its own", async () => {
      const message = "This model's maximum context length is 8192 tokens.";
      expect(await failure(status(400, { message }), way)).toMatchObject({
        kind: "context_length",
      });
    });

    test.runIf(secrets)("secrets do not get into messages", async () => {
      const message = "Incorrect API key: q-test-key, sk-abcdefgh12345678 and Bearer hidden-token";
      const settings = { headers: { "x-auth": "hidden-token" } };
      const error = await failure(status(401, { message }), way, settings);
      expect(error.message).toContain("Incorrect API key");
      expect(JSON.stringify([error.message, error.data, String(error.cause)])).not.toMatch(
        /q-test-key|sk-abc|hidden-token/,
      );
    });

    test("whole pages and long codes do not get into errors", async () => {
      const long = "x".repeat(10_000);
      const page = status(502, { body: `<html>${long}</html>` });
      expect((await failure(page, way)).message.length).toBeLessThan(600);
      const body = JSON.stringify({
        error: { code: `sk-abcdefgh12345678 ${long}` },
        request_id: long,
      });
      const { message, data } = await failure(status(400, { body }), way);
      const recorded = JSON.stringify([message, data]);
      expect(recorded.length).toBeLessThan(2000);
      expect(recorded).not.toContain("sk-abc");
    });

    test.each<[string, Fault, string]>([
      ["a connection cut at once", { kind: "cut", after_chunks: 0 }, "connection"],
      ["a connection cut in the middle", { kind: "cut", after_chunks: 3 }, "connection"],
      ["half a JSON document", { kind: "truncated" }, "bad_response"],
      ["a page", { kind: "html" }, "bad_response"],
      ["nothing", { kind: "empty" }, "bad_response"],
      ["no choices", { kind: "no_choices" }, "bad_response"],
    ])("%s", async (_, fault, kind) => {
      expect(await failure(fault, way)).toMatchObject({ kind, retryable: true });
    });

    test("a server that does not begin to answer causes a timeout", async () => {
      await using fake = await startFakeOpenAI({ rules: [{ name: "wait", hold: true }] });
      const asked = ask(connect(fake.origin, { timeout: 0.5 }), way);
      // What a client imports with its first request counts, too: the request may not have arrived in a shorter time.
      await expect(asked).rejects.toMatchObject({ kind: "timeout" });
      await left(fake);
    });

    test("a server that does not exist is a connection error", async () => {
      const fake = await startFakeOpenAI();
      await fake.close();
      await expect(ask(connect(fake.origin), way)).rejects.toMatchObject({ kind: "connection" });
    });

    test("a redirect is not followed with the key", async () => {
      const headers = { location: "/v1/elsewhere" };
      expect(await failure(status(307, { headers }), way)).toMatchObject({ kind: "bad_response" });
    });

    test("an abort throws the signal's reason and closes the connection", async () => {
      await using fake = await startFakeOpenAI({ rules: [{ name: "wait", hold: true }] });
      const controller = new AbortController();
      const asked = ask(connect(fake.origin), way, controller.signal);
      await fake.held("wait");
      const reason = new Error("stop it");
      controller.abort(reason);
      await expect(asked).rejects.toBe(reason);
      await left(fake);
      await expect(ask(connect(fake.origin), way, controller.signal)).rejects.toBe(reason);
      expect(fake.requests).toHaveLength(1);
    });
  });

  describe("a stream", () => {
    test("that ends before the reply does is an error", async () => {
      const fault: Fault = { kind: "unfinished", after_chunks: 3 };
      expect(await failure(fault, "createStream")).toMatchObject({
        kind: "bad_response",
        retryable: true,
      });
    });

    test("may contain an error in the middle", async () => {
      const event = (message: string): Fault => ({
        kind: "error_event",
        after_chunks: 2,
        code: "server_error",
        message,
      });
      expect(await failure(event("Overloaded by q-test-key."), "createStream")).toMatchObject({
        kind: "server",
        retryable: true,
        message: `Overloaded by ${secrets ? "[redacted]" : "q-test-key"}.`,
      });
      const full = event("the input length exceeds the context length");
      expect(await failure(full, "createStream")).toMatchObject({ kind: "context_length" });
    });

    test("throws the reason of an abort in the middle, after the pieces that came", async () => {
      await using fake = await startFakeOpenAI({
        rules: [{ name: "stall", reply: { words: 9 }, fault: { kind: "stall", after_chunks: 3 } }],
      });
      const controller = new AbortController();
      const stream = connect(fake.origin).createStream([user("Hi")], { signal: controller.signal });
      expect(await stream.next()).toMatchObject({ value: "word0" });
      expect(await stream.next()).toMatchObject({ value: " word1" });
      // A third piece may have come already.
      const next = stream
        .next()
        .then((third) => (third.value === " word2" ? stream.next() : third));
      controller.abort(new Error("stop it"));
      await expect(next).rejects.toThrow("stop it");
      await left(fake);
    });

    test("closes its connection when its reader leaves", async () => {
      await using fake = await startFakeOpenAI({
        rules: [{ name: "stall", reply: { words: 9 }, fault: { kind: "stall", after_chunks: 3 } }],
      });
      for await (const piece of connect(fake.origin).createStream([user("Hi")])) {
        expect(piece).toBe("word0");
        break;
      }
      await left(fake);
    });

    test("does not stop for a timeout longer than a timer can wait", async () => {
      await using fake = await startFakeOpenAI({
        rules: [{ name: "slow", reply: { words: 3 }, pace_ms: 20 }],
      });
      const { result } = await collect(
        connect(fake.origin, { timeout: 1e9 }).createStream([user("Hi")]),
      );
      expect(result.content).toBe("word0 word1 word2");
    });
  });
});
