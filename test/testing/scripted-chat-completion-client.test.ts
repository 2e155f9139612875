import { expect, test } from "vitest";
import { ScriptedChatCompletionClient } from "troupe/testing";

test("a scripted model gives its replies in order, and keeps what it was asked", async () => {
  const call = { id: "1", name: "look", arguments: "{}" };
  const model = new ScriptedChatCompletionClient(["Hello.", [call]]);
  const messages = [{ type: "UserMessage" as const, source: "user", content: "Hi." }];
  expect(await model.create(messages)).toMatchObject({ content: "Hello.", finish_reason: "stop" });
  expect(await model.create([])).toMatchObject({
    content: [call],
    finish_reason: "function_calls",
  });
  expect(model.requests.map((request) => request.messages)).toEqual([messages, []]);
  expect(model.totalUsage()).toEqual({ prompt_tokens: 20, completion_tokens: 10 });
  model.assertDone();
});

test("a scripted model streams a text word by word, and returns it whole", async () => {
  const stream = new ScriptedChatCompletionClient(["One two\nthree"]).createStream([]);
  const words: string[] = [];
  let next = await stream.next();
  for (; !next.done; next = await stream.next()) words.push(next.value);
  expect(words).toEqual(["One ", "two\n", "three"]);
  expect(next.value.content).toBe("One two\nthree");
});

test("a reply may be a function of its request, and an error is thrown", async () => {
  const model = new ScriptedChatCompletionClient([
    ({ streaming, messages }) => `${messages.length} ${streaming}`,
    async () => new Error("overloaded"),
  ]);
  expect((await model.create([])).content).toBe("0 false");
  await expect(model.create([])).rejects.toThrow("overloaded");
});

test("a call that the script does not have fails, and so does a script that was not used", async () => {
  await expect(new ScriptedChatCompletionClient([]).create([])).rejects.toThrow(
    "call 1 of the model is not in the script",
  );
  expect(() => new ScriptedChatCompletionClient(["a", "b"]).assertDone()).toThrow("2 more times");
});
