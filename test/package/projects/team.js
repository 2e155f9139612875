// Runs in a project that has the package installed, without a compiler.
import { ok, strictEqual } from "node:assert";
import {
  AssistantAgent,
  FunctionTool,
  OpenAIChatCompletionClient,
  RoundRobinGroupChat,
  run,
} from "troupe";
import { TroupeClient } from "troupe/client";
import { messageSchema } from "troupe/schemas";
import { ScriptedChatCompletionClient } from "troupe/testing";
import * as z from "zod";

const clock = new FunctionTool({
  name: "clock",
  description: "The time in a place.",
  parameters: z.object({ place: z.string() }),
  execute: ({ place }) => `noon in ${place}`,
  policy: "retry",
});
const agent = new AssistantAgent({
  name: "guide",
  modelClient: new ScriptedChatCompletionClient([
    [{ id: "1", name: "clock", arguments: '{"place":"Lisbon"}' }],
    "It is noon.",
  ]),
  tools: [clock],
  reflectOnToolUse: true,
});
const { messages } = await run(new RoundRobinGroupChat([agent], { maxTurns: 1 }), {
  task: "What time is it?",
});
strictEqual(messages.at(-1)?.content, "It is noon.");
for (const message of messages) strictEqual(messageSchema.parse(message).type, message.type);

const openai = new OpenAIChatCompletionClient({ model: "gpt-4o", apiKey: "none" });
strictEqual(
  await openai.countTokens([{ type: "UserMessage", content: "hello world", source: "user" }]),
  11,
);
ok(new TroupeClient({ baseURL: "http://127.0.0.1" }).team("a"));
process.stdout.write(process.version);
