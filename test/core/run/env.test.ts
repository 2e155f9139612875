import {
  AssistantAgent,
  FunctionTool,
  ReplayChatCompletionClient,
  run,
  type ToolRun,
  toText,
} from "troupe";
import { expect, test } from "vitest";
import * as z from "zod";

interface Bindings {
  GREETINGS: { get(key: string): Promise<string> };
}

const greeting = new FunctionTool({
  name: "greeting",
  description: "Reads a greeting.",
  parameters: z.object({ key: z.string() }),
  execute: ({ key }, { env }: ToolRun<Bindings>) => env.GREETINGS.get(key),
});

function greeter(): AssistantAgent {
  const call = { id: "1", name: "greeting", arguments: '{"key": "morning"}' };
  const usage = { prompt_tokens: 0, completion_tokens: 0 };
  return new AssistantAgent({
    name: "greeter",
    tools: [greeting],
    modelClient: new ReplayChatCompletionClient(
      [{ finish_reason: "function_calls", content: [call], usage, cached: false }],
      {
        modelInfo: {
          vision: false,
          functionCalling: true,
          jsonOutput: false,
          structuredOutput: false,
          family: "unknown",
        },
      },
    ),
  });
}

test("a run in memory gives its tools its env", async () => {
  const env: Bindings = { GREETINGS: { get: async (key) => `Good ${key}!` } };
  const { messages } = await run(greeter(), { task: "Hello", env });
  expect(messages.map(toText).at(-1)).toBe("Good morning!");
});

test("an env that was not given is empty, and a tool's error says so", async () => {
  const { messages } = await run(greeter(), { task: "Hello" });
  expect(messages.map(toText).at(-1)).toContain("undefined");
  expect(messages.at(-2)).toMatchObject({ content: [{ is_error: true }] });
});
