import { expect, test } from "vitest";
import { AgentTool, AssistantAgent, type Json, RoundRobinGroupChat } from "troupe";
import { ScriptedChatCompletionClient } from "troupe/testing";

test("a watcher sees the turns of a run and its steps, those of an agent as a tool included", async () => {
  const inner = new AssistantAgent({
    name: "inner",
    modelClient: new ScriptedChatCompletionClient(["done"]),
  });
  const call = { id: "1", name: "inner", arguments: '{"task": "go"}' };
  const outer = new AssistantAgent({
    name: "outer",
    modelClient: new ScriptedChatCompletionClient([[call]]),
    tools: [new AgentTool(inner)],
  });
  const turns: number[] = [];
  const models: (Json | undefined)[] = [];
  await new RoundRobinGroupChat([outer], { maxTurns: 1 }).run({
    task: "Go.",
    watcher: {
      turn: (number) => turns.push(number),
      step(kind, result) {
        if (kind === "model") models.push(result);
      },
      spent: () => {},
    },
  });
  expect(turns).toEqual([0, 1]);
  expect(models).toMatchObject([{ content: [call] }, { content: "done" }]);
});
