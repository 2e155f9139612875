import { expect, test } from "vitest";
import * as z from "zod";
import { AssistantAgent, FunctionTool, OllamaChatCompletionClient, run, toText } from "troupe";
import { RoundRobinGroupChat } from "troupe";
import { startFakeOpenAI } from "../../../support/fake-openai/server.ts";

test("an agent with a tool talks to Ollama", async () => {
  await using fake = await startFakeOpenAI({
    rules: [
      { name: "answer", match: { role: "tool" }, reply: { content: "It is 5." } },
      {
        name: "call",
        reply: { reasoning: "Adding.", tool_calls: [{ name: "add", arguments: { a: 2, b: 3 } }] },
      },
    ],
  });
  const add = new FunctionTool({
    name: "add",
    description: "Adds.",
    parameters: z.object({ a: z.number(), b: z.number() }),
    execute: ({ a, b }) => a + b,
  });
  const helper = new AssistantAgent({
    name: "helper",
    modelClient: new OllamaChatCompletionClient({
      model: "qwen3",
      host: fake.origin,
      options: { num_ctx: 16_384 },
    }),
    tools: [add],
    reflectOnToolUse: true,
    modelClientStream: true,
  });
  const team = new RoundRobinGroupChat([helper], { maxTurns: 1 });
  const { messages } = await run(team, { task: "What is 2 + 3?" });
  const [, thought, , result] = messages;
  expect(thought).toMatchObject({ type: "ThoughtEvent", content: "Adding." });
  expect(result).toMatchObject({ content: [{ name: "add", content: "5", is_error: false }] });
  const last = messages.at(-1);
  expect(last && toText(last)).toBe("It is 5.");
  expect(fake.requests.map(({ path }) => path)).toEqual(["/api/chat", "/api/chat"]);
  expect(fake.requests.at(-1)?.body).toMatchObject({
    stream: true,
    options: { num_ctx: 16_384 },
    messages: [
      {},
      {},
      { content: "", thinking: "Adding.", tool_calls: [{}] },
      { role: "tool", content: "5" },
    ],
  });
});
