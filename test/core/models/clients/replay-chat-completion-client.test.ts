import { describe, expect, test } from "vitest";
import type { CreateResult, LLMMessage } from "troupe";
import { ReplayChatCompletionClient } from "troupe";
import { StateTree } from "#core/state/state-tree.ts";

const request: LLMMessage[] = [
  { content: "be  brief\n", type: "SystemMessage" },
  { content: "hello there world", source: "u", type: "UserMessage" },
  { content: ["not counted"], source: "u", type: "UserMessage" },
];
const prepared: CreateResult = {
  finish_reason: "function_calls",
  content: [{ id: "1", name: "f", arguments: "{}" }],
  model: "gpt-4o",
  usage: { prompt_tokens: 7, completion_tokens: 3 },
  cached: false,
};

async function streamed(client: ReplayChatCompletionClient): Promise<unknown[]> {
  const stream = client.createStream(request);
  const seen: unknown[] = [];
  for (let next = await stream.next(); ; next = await stream.next()) {
    seen.push(next.value);
    if (next.done) return seen;
  }
}

describe("ReplayChatCompletionClient", () => {
  test("gives its answers in order and counts words", async () => {
    const client = new ReplayChatCompletionClient(["one two  three", prepared]);
    expect(await client.create(request)).toEqual({
      finish_reason: "stop",
      content: "one two  three",
      model: "replay",
      usage: { prompt_tokens: 5, completion_tokens: 3 },
      cached: true,
    });
    expect(await client.create(request)).toEqual(prepared);
    expect(client.totalUsage()).toEqual({ prompt_tokens: 10, completion_tokens: 6 });
    expect(await client.countTokens(request)).toBe(5);
    expect(await client.remainingTokens()).toBe(10_000 - 16);
  });

  test("streams a text word by word, then the text as it was", async () => {
    const client = new ReplayChatCompletionClient(["one two  three", prepared]);
    expect(await streamed(client)).toEqual([
      "one ",
      "two ",
      "three",
      expect.objectContaining({ content: "one two  three" }),
    ]);
    expect(await streamed(client)).toEqual([prepared]);
  });

  test("keeps the last 100 requests that it answered", async () => {
    const client = new ReplayChatCompletionClient(["again"], { cycle: true });
    await client.create(request, { toolChoice: "none" });
    await streamed(client);
    expect(client.calls).toEqual([
      { messages: request, toolChoice: "none" },
      { messages: request },
    ]);
    for (let call = 0; call < 100; call++) await client.create([]);
    expect(client.calls).toHaveLength(100);
    expect(client.calls[0]).toEqual({ messages: [] });
  });

  test("gives an answer again whose stream was not fetched to its end", async () => {
    const client = new ReplayChatCompletionClient(["one two"]);
    const stream = client.createStream(request);
    await stream.next();
    await stream.return(prepared);
    expect((await client.create(request)).content).toBe("one two");
  });

  test("fails for good after the last answer", async () => {
    const client = new ReplayChatCompletionClient([]);
    const exhausted = {
      kind: "exhausted",
      retryable: false,
      message: "No more mock responses available",
    };
    await expect(client.create(request)).rejects.toMatchObject(exhausted);
    await expect(streamed(client)).rejects.toMatchObject(exhausted);
  });

  test("starts over when `cycle` is set", async () => {
    const client = new ReplayChatCompletionClient(["a", "b"], { cycle: true });
    const contents = [];
    for (let call = 0; call < 5; call++) contents.push((await client.create(request)).content);
    expect(contents).toEqual(["a", "b", "a", "b", "a"]);
    await expect(
      new ReplayChatCompletionClient([], { cycle: true }).create(request),
    ).rejects.toMatchObject({ kind: "exhausted" });
  });

  test("continues where a recorded answer is used instead of a call", async () => {
    const [called, repeated] = [
      new ReplayChatCompletionClient(["a", "b"]),
      new ReplayChatCompletionClient(["a", "b"]),
    ];
    repeated.replayed(await called.create(request), request);
    expect(await repeated.remainingTokens()).toBe(await called.remainingTokens());
    expect((await repeated.create(request)).content).toBe("b");
  });

  test("keeps its position in storage but not in a saved state", async () => {
    const client = new ReplayChatCompletionClient(["a", "b"]);
    const tree = new StateTree(client);
    await client.create(request);
    const [head] = tree.changes().heads;
    const restarted = new ReplayChatCompletionClient(["a", "b"]);
    new StateTree(restarted).restore({ head: () => head?.value, log: () => undefined });
    // Contexts that are trimmed to what is left must be trimmed in the same way after a restart.
    expect(await restarted.remainingTokens()).toBe(await client.remainingTokens());
    expect((await restarted.create(request)).content).toBe("b");
    client.loadState();
    expect(client.saveState()).toEqual({});
    expect((await client.create(request)).content).toBe("b");
  });

  test("dumps `cycle` only where it is set", () => {
    expect(new ReplayChatCompletionClient(["a"]).toConfig()).not.toHaveProperty("cycle");
    expect(new ReplayChatCompletionClient(["a"], { cycle: true }).toConfig()).toHaveProperty(
      "cycle",
      true,
    );
  });
});
