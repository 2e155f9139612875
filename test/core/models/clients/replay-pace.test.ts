import { expect, test } from "vitest";
import { ReplayChatCompletionClient } from "troupe";

test("a paced reply waits before each word, and stops waiting when the call is aborted", async () => {
  const client = new ReplayChatCompletionClient(["one two"], { chunkDelayMs: 10_000 });
  const controller = new AbortController();
  const stream = client.createStream([], { signal: controller.signal });
  const first = stream.next();
  controller.abort(new Error("enough"));
  await expect(first).rejects.toThrow("enough");
});

test("the pace is part of the config only where there is one", () => {
  const paced = new ReplayChatCompletionClient(["a"], { chunkDelayMs: 5 });
  expect(paced.toConfig()).toMatchObject({ chunk_delay_ms: 5 });
  expect(new ReplayChatCompletionClient(["a"]).toConfig()).not.toHaveProperty("chunk_delay_ms");
});
