import { expect, test } from "vitest";
import { AssistantAgent, type Question, run, type Task, toText, type ToolSchema } from "troupe";
import type { AssistantAgentOptions, FunctionCall } from "troupe";
import {
  ScriptedChatCompletionClient,
  type ScriptedReply,
} from "#testing/scripted-chat-completion-client.ts";

const LOCATE: ToolSchema = {
  name: "locate",
  description: "Says where the user is.",
  parameters: { type: "object", properties: { precise: { type: "boolean" } } },
};

const call = (id: string, name = "locate", args: object = { precise: true }): FunctionCall => ({
  id,
  name,
  arguments: JSON.stringify(args),
});

/** Runs an agent whose client has a tool, which answers "Vienna". */
async function ask(
  replies: ScriptedReply[],
  options: Partial<AssistantAgentOptions> = {},
  answer: { content: string; is_error?: boolean } = { content: "Vienna" },
) {
  const modelClient = new ScriptedChatCompletionClient(replies, {
    functionCalling: options.modelClient?.modelInfo.functionCalling ?? true,
  });
  const agent = new AssistantAgent({ name: "guide", ...options, modelClient });
  const questions: Question[] = [];
  const { messages } = await run(agent, {
    task: "Where am I?" satisfies Task,
    clientTools: [LOCATE],
    answer: (question) => {
      questions.push(question);
      return Promise.resolve(answer);
    },
  });
  modelClient.assertDone();
  return { messages, questions, requests: modelClient.requests, last: messages.at(-1) };
}

test("a call of a client's tool is a question, and the model continues with its result", async () => {
  const { questions, requests, last } = await ask([[call("1")], "In Vienna."]);
  expect(questions).toEqual([
    expect.objectContaining({
      kind: "tool",
      source: "guide",
      toolCall: {
        name: "locate",
        arguments: { precise: true },
        callId: "1",
        parameters: LOCATE.parameters,
      },
    }),
  ]);
  expect(requests[0]?.options.tools).toEqual([LOCATE]);
  expect(requests[1]?.messages.at(-1)).toMatchObject({
    content: [{ call_id: "1", name: "locate", content: "Vienna", is_error: false }],
  });
  expect(last && toText(last)).toBe("In Vienna.");
});

test("several calls at once are several questions, and one that fails is a result", async () => {
  const { questions, requests } = await ask(
    [[call("1"), call("2", "locate", {})], "Nowhere."],
    {},
    { content: "no signal", is_error: true },
  );
  expect(questions.map(({ toolCall }) => toolCall?.callId)).toEqual(["1", "2"]);
  expect(requests[1]?.messages.at(-1)).toMatchObject({
    content: [
      { call_id: "1", content: "no signal", is_error: true },
      { call_id: "2", content: "no signal", is_error: true },
    ],
  });
});

test("calls of a client's tools do not count in max_tool_iterations", async () => {
  const replies = [[call("1")], [call("2")], [call("3")], "There."];
  const { questions, last } = await ask(replies, { maxToolIterations: 1 });
  expect(questions).toHaveLength(3);
  expect(last && toText(last)).toBe("There.");
});

test("calls that never reach the client do count, so that a model cannot continue without end", async () => {
  const broken = { id: "1", name: "locate", arguments: "{" };
  const { questions, requests, last } = await ask([[broken]], { maxToolIterations: 1 });
  expect(questions).toEqual([]);
  expect(requests).toHaveLength(1);
  expect(last?.type).toBe("ToolCallSummaryMessage");
});

test("an agent's own tool or handoff precedes one of the same name", async () => {
  const { questions, requests } = await ask([[call("1")]], {
    handoffs: [{ target: "other", name: "locate", description: "", message: "Over to you." }],
  });
  expect(questions).toEqual([]);
  expect(requests[0]?.options.tools).toHaveLength(1);
});

test("a model that calls no tools gets none", async () => {
  const silent = new ScriptedChatCompletionClient([], { functionCalling: false });
  const { requests } = await ask(["I do not know."], { modelClient: silent });
  expect(requests[0]?.options.tools).toEqual([]);
});
