import assert from "node:assert/strict";
import { test } from "node:test";
import { run, toText } from "troupe";
import { ScriptedChatCompletionClient } from "troupe/testing";
import { townGuide } from "../src/team.ts";

test("the guide answers with the result of the tool", async () => {
  const model = new ScriptedChatCompletionClient([
    [{ id: "call_1", name: "opening_hours", arguments: '{"place":"library"}' }],
    "The library is open from 9:00 to 20:00.",
  ]);

  const { messages } = await run(townGuide(model), { task: "When is the library open?" });

  const executed = messages.find((message) => message.type === "ToolCallExecutionEvent");
  assert.equal(executed?.content[0]?.content, "9:00 to 20:00");
  assert.equal(messages.map(toText).at(-1), "The library is open from 9:00 to 20:00.");
  model.assertDone();
});
