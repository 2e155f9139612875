import { expect, test } from "vitest";
import * as z from "zod";
import {
  AnthropicChatCompletionClient,
  AssistantAgent,
  FunctionTool,
  RoundRobinGroupChat,
  run,
  toText,
} from "troupe";
import { startFakeOpenAI } from "../../../support/fake-openai/server.ts";

test("an agent that thinks calls a tool and reflects on its result", async () => {
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
  const thinking = { type: "enabled", budgetTokens: 2000 } as const;
  const helper = new AssistantAgent({
    name: "helper",
    modelClient: new AnthropicChatCompletionClient({
      model: "claude-sonnet-4-5",
      apiKey: "key",
      baseURL: fake.origin,
      thinking,
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
  expect(fake.requests.map(({ body }) => body)).toMatchObject([
    {
      stream: true,
      thinking: { type: "enabled", budget_tokens: 2000 },
      tool_choice: { type: "auto" },
    },
    {
      stream: true,
      // The model continues to think: its thought goes back signed.
      thinking: { type: "enabled", budget_tokens: 2000 },
      // The agent gives no tools when it reflects; the call before is of one.
      tools: [{ name: "add" }],
      tool_choice: { type: "none" },
      messages: [
        { role: "user" },
        {
          content: [
            { type: "thinking", thinking: "Adding.", signature: expect.any(String) as string },
            { type: "tool_use", name: "add" },
          ],
        },
        { content: [{ type: "tool_result", content: "5" }] },
      ],
    },
  ]);
  expect(fake.requests).toHaveLength(2);
});
