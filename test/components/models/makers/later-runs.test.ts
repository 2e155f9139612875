import { describe, expect, test } from "vitest";
import * as z from "zod";
import { AssistantAgent, FunctionTool, RoundRobinGroupChat, run } from "troupe";
import type { ChatCompletionClient, LLMMessage } from "troupe";
import type { RuleInput } from "../../../support/fake-openai/rule.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../../support/fake-openai/server.ts";
import { CLIENTS } from "../contract/clients.ts";

// A team that got one bad answer continues: its later runs are not refused for what the first one has left in the conversation.

/** Answers of models as they have been reported, and what a server that parses arguments cannot say. */
const ANSWERS: readonly { name: string; reply: RuleInput["reply"] & {}; asText?: true }[] = [
  { name: "half of a character", reply: { content: "a\ud83e" } },
  { name: "half of a character in arguments", reply: { tool_calls: [callOf({ q: "a\ud83e" })] } },
  { name: "a name with a blank", reply: { tool_calls: [{ name: "look up", arguments: {} }] } },
  {
    name: "arguments cut off",
    reply: { tool_calls: [callOf('{"q":"a')] },
    asText: true,
  },
  { name: "arguments of a list", reply: { tool_calls: [callOf("[1]")] }, asText: true },
];

function callOf(args: string | { q: string }) {
  return { name: "lookup", arguments: args };
}

function helper(modelClient: ChatCompletionClient): RoundRobinGroupChat {
  const lookup = new FunctionTool({
    name: "lookup",
    description: "Looks something up.",
    parameters: z.object({ q: z.string() }),
    execute: ({ q }) => `${q} \ud83e`,
  });
  const agent = new AssistantAgent({ name: "helper", modelClient, tools: [lookup] });
  return new RoundRobinGroupChat([agent], { maxTurns: 1 });
}

const statuses = ({ requests }: FakeOpenAI) => requests.map(({ status }) => status);

describe.each(CLIENTS)("$name", ({ name, connect }) => {
  const readsObjects = name === "Ollama" || name === "Anthropic";

  test.each(ANSWERS.filter(({ asText }) => !(asText && readsObjects)))(
    "continues after $name, also from a saved state",
    async ({ reply }) => {
      await using fake = await startFakeOpenAI({
        rules: [
          { name: "later", match: { text: "And then?" }, reply: { content: "Fine." } },
          { name: "first", reply },
        ],
      });
      const team = helper(connect(fake.origin));
      await run(team, { task: "Begin." });
      const state = team.saveState();
      const loaded = helper(connect(fake.origin));
      loaded.loadState(state);
      for (const each of [team, team, loaded]) {
        const { messages } = await run(each, { task: "And then?" });
        expect(messages.at(-1)).toMatchObject({ content: "Fine." });
      }
      expect(statuses(fake)).toEqual([200, 200, 200, 200]);
    },
  );

  test("has a message in each request, also where the task is empty", async () => {
    await using fake = await startFakeOpenAI({
      rules: [{ name: "any", reply: { content: "Hi" } }],
    });
    const team = helper(connect(fake.origin));
    for (const task of ["", " ", "\n"]) await run(team, { task });
    expect(statuses(fake)).toEqual([200, 200, 200]);
  });
});

test("a model reads the arguments that it wrote in the error of their call", async () => {
  await using fake = await startFakeOpenAI();
  const messages: LLMMessage[] = [
    { type: "UserMessage", source: "user", content: "Begin." },
    {
      type: "AssistantMessage",
      source: "helper",
      thought: null,
      content: [
        { id: "c1", name: "lookup", arguments: '{"q":"a' },
        { id: "c2", name: "lookup", arguments: '{"n":9007199254740993}' },
      ],
    },
    {
      type: "FunctionExecutionResultMessage",
      content: [
        { call_id: "c2", name: "lookup", content: "5", is_error: false },
        { call_id: "c1", name: "lookup", content: "Error: no JSON", is_error: true },
      ],
    },
  ];
  for (const { name, connect } of CLIENTS) {
    const body = connect(fake.origin).writeRequest?.(messages, {}, { streamed: false })?.body ?? "";
    const said = 'Error: no JSON\\nThe arguments were not a JSON object: {\\"q\\":\\"a';
    expect([name, body.includes(said), body.includes("9007199254740993")]).toEqual([
      name,
      true,
      true,
    ]);
  }
});
