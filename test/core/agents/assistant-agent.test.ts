import { describe, expect, test } from "vitest";
import * as z from "zod";
import { AssistantAgent, FunctionTool, run, runStream, type Task } from "troupe";
import type { AssistantAgentOptions, ChatMessage, FunctionCall, Message } from "troupe";
import {
  ScriptedChatCompletionClient,
  type ScriptedReply,
} from "#testing/scripted-chat-completion-client.ts";

const add = new FunctionTool({
  name: "add",
  description: "Adds.",
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});

const callAdd = (id: string, a: number, b: number): FunctionCall => ({
  id,
  name: "add",
  arguments: JSON.stringify({ a, b }),
});

function scripted(replies: ScriptedReply[], options: Partial<AssistantAgentOptions> = {}) {
  const model = new ScriptedChatCompletionClient(replies);
  const agent = new AssistantAgent({
    name: "alice",
    modelClient: model,
    systemMessage: "You are alice.",
    ...options,
  });
  return { agent, model };
}

/** Runs the agent on a script that must be used up; the messages after the task. */
async function answer(
  replies: ScriptedReply[],
  options: Partial<AssistantAgentOptions> = {},
  task: Task = "go",
) {
  const { agent, model } = scripted(replies, options);
  const items: Message[] = [];
  for await (const item of runStream(agent, { task, outputTaskMessages: false })) {
    if (item.type !== "TaskResult") items.push(item);
  }
  model.assertDone();
  return { agent, model, items, last: items.at(-1) as ChatMessage };
}

const types = (items: readonly Message[]) => items.map(({ type }) => type);

describe("what the model is asked", () => {
  test("the system message, then the conversation", async () => {
    const { model } = await answer(["Hi."]);
    expect(model.requests).toMatchObject([
      {
        messages: [
          { type: "SystemMessage", content: "You are alice." },
          { type: "UserMessage", source: "user", content: "go" },
        ],
        options: { tools: [], jsonOutput: null },
      },
    ]);
  });

  test("no system message when there is to be none", async () => {
    const { model } = await answer(["Hi."], { systemMessage: null });
    expect(model.requests[0]?.messages).toHaveLength(1);
  });

  test("the context a handoff brings along comes before the handoff", async () => {
    const context = [
      { type: "AssistantMessage", content: "hm", thought: null, source: "bob" } as const,
    ];
    const { model } = await answer(
      ["I take over."],
      {},
      {
        type: "HandoffMessage",
        source: "bob",
        target: "alice",
        content: "Please.",
        context,
      },
    );
    expect(model.requests[0]?.messages.slice(1)).toEqual([
      context[0],
      { type: "UserMessage", source: "bob", content: "Please." },
    ]);
  });

  test("a model that does not see gets a word for each picture, the context keeps them", async () => {
    const picture = { data: "iVBORw0KGgo=" };
    const task = { type: "MultiModalMessage", source: "user", content: ["Look", picture] } as const;
    const { model, agent } = await answer(["I see."], {}, { ...task, content: [...task.content] });
    expect(model.requests[0]?.messages[1]).toMatchObject({ content: "Look\n<image>" });
    expect((await agent.modelContext.getMessages())[0]).toMatchObject({
      content: ["Look", picture],
    });
  });
});

describe("streaming", () => {
  test("pieces name the message they become, and have ids of their own", async () => {
    const { items } = await answer(["one two three"], { modelClientStream: true });
    const [last, ...pieces] = items.toReversed();
    expect(types(items)).toEqual([
      "ModelClientStreamingChunkEvent",
      "ModelClientStreamingChunkEvent",
      "ModelClientStreamingChunkEvent",
      "TextMessage",
    ]);
    expect(pieces.map((piece) => "full_message_id" in piece && piece.full_message_id)).toEqual([
      last?.id,
      last?.id,
      last?.id,
    ]);
    expect(new Set(items.map(({ id }) => id)).size).toBe(4);
  });

  test("a thought takes the id of the pieces, the text gets a new one", async () => {
    const { items } = await answer([{ content: "a b", thought: "hm" }], {
      modelClientStream: true,
    });
    const [piece, , thought, text] = items;
    expect(thought).toMatchObject({
      type: "ThoughtEvent",
      content: "hm",
      id: piece && "full_message_id" in piece && piece.full_message_id,
    });
    expect(text?.id).not.toBe(thought?.id);
  });

  test("pieces are not part of the result", async () => {
    const { agent } = scripted(["a b"], { modelClientStream: true });
    expect(types((await run(agent, { task: "go" })).messages)).toEqual([
      "TextMessage",
      "TextMessage",
    ]);
  });

  test("pieces of two rounds under one id do not share theirs", async () => {
    const { items } = await answer([[callAdd("c1", 1, 2)], "It is three."], {
      modelClientStream: true,
      tools: [add],
      maxToolIterations: 2,
    });
    expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
  });
});

describe("tools", () => {
  test("the results of one round are the answer", async () => {
    const { items, last, model } = await answer([[callAdd("c1", 1, 2), callAdd("c2", 3, 4)]], {
      tools: [add],
    });
    expect(types(items)).toEqual([
      "ToolCallRequestEvent",
      "ToolCallExecutionEvent",
      "ToolCallSummaryMessage",
    ]);
    expect(last).toMatchObject({ content: "3\n7" });
    expect(model.requests[0]?.options.tools).toEqual([add.schema]);
  });

  test("rounds continue until the model answers with text", async () => {
    const { last, model } = await answer(
      [[callAdd("c1", 1, 2)], [callAdd("c1", 3, 4)], "Three and seven."],
      { tools: [add], maxToolIterations: 5 },
    );
    expect(last).toMatchObject({ type: "TextMessage", content: "Three and seven." });
    expect(model.requests[2]?.messages).toHaveLength(6);
  });

  test("after the last round only its results are summarised", async () => {
    const { last } = await answer([[callAdd("c1", 1, 2)], [callAdd("c2", 3, 4)]], {
      tools: [add],
      maxToolIterations: 2,
    });
    expect(last).toMatchObject({ type: "ToolCallSummaryMessage", content: "7" });
  });

  test("the summary follows a format", async () => {
    const { last } = await answer([[callAdd("c1", 1, 2)]], {
      tools: [add],
      toolCallSummaryFormat: "{tool_name}({arguments}) = {result} {is_error} {{x}}",
    });
    expect(last).toMatchObject({ content: 'add({"a":1,"b":2}) = 3 False {x}' });
  });

  test("the summary may be made by a function", async () => {
    const { last } = await answer([[callAdd("c1", 1, 2)]], {
      tools: [add],
      toolCallSummaryFormatter: (call, result) => `${call.id}: ${result.content}`,
    });
    expect(last).toMatchObject({ content: "c1: 3" });
  });

  test("failures, unknown tools and bad arguments are results", async () => {
    const call = (name: string, args: string) => ({ id: "c", name, arguments: args });
    const { last } = await answer(
      [[call("add", "{"), call("missing", "{}"), call("add", '{"a": 1}')]],
      { tools: [add] },
    );
    expect(last).toMatchObject({
      results: [
        {
          is_error: true,
          content:
            "Error: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
        },
        { is_error: true, content: "Error: tool 'missing' not found in any workbench" },
        { is_error: true, content: expect.stringContaining("b: ") },
      ],
    });
  });

  test("reflection asks once more, without tools", async () => {
    const { items, last, model } = await answer(
      [[callAdd("c1", 1, 2)], { content: "Three.", thought: "easy" }],
      { tools: [add], reflectOnToolUse: true },
    );
    expect(types(items).slice(2)).toEqual(["ThoughtEvent", "TextMessage"]);
    expect(last).toMatchObject({ content: "Three." });
    expect(model.requests[1]?.options).toMatchObject({ toolChoice: "none" });
    expect(model.requests[1]?.options.tools).toBeUndefined();
  });

  test("reflection that asks for tools fails", async () => {
    const { agent } = scripted([[callAdd("c1", 1, 2)], [callAdd("c2", 1, 2)]], {
      tools: [add],
      reflectOnToolUse: true,
    });
    await expect(run(agent, { task: "go" })).rejects.toMatchObject({ code: "no_text" });
  });
});

describe("handoffs", () => {
  const call = (name: string): FunctionCall => ({ id: name, name, arguments: "{}" });

  test("by name, with texts made from it", async () => {
    const { last, model } = await answer([[call("transfer_to_bob")]], { handoffs: ["Bob"] });
    expect(last).toMatchObject({
      type: "HandoffMessage",
      target: "Bob",
      content: "Transferred to Bob, adopting the role of Bob immediately.",
      context: [],
    });
    expect(model.requests[0]?.options.tools).toEqual([
      {
        name: "transfer_to_bob",
        description: "Handoff to Bob.",
        parameters: { type: "object", properties: {}, required: [], additionalProperties: false },
        strict: true,
      },
    ]);
  });

  test("other tools' results go along; of two handoffs the first counts", async () => {
    const { last } = await answer(
      [
        {
          content: [call("to_boss"), callAdd("c1", 1, 2), call("transfer_to_bob")],
          thought: "too hard",
        },
      ],
      {
        tools: [add],
        handoffs: ["bob", { target: "boss", name: "to_boss", message: "Help." }],
      },
    );
    expect(last).toMatchObject({
      target: "boss",
      content: "Help.",
      context: [
        { type: "AssistantMessage", content: [{ id: "c1" }], thought: "too hard" },
        { type: "FunctionExecutionResultMessage", content: [{ content: "3" }] },
      ],
    });
  });

  test("without other tools the thought goes along", async () => {
    const { last } = await answer([{ content: [call("transfer_to_bob")], thought: "too hard" }], {
      handoffs: ["bob"],
    });
    expect(last).toMatchObject({ context: [{ content: "too hard", thought: null }] });
  });
});

describe("structured answers", () => {
  const Verdict = z.object({ label: z.string(), score: z.number().default(0) }).meta({
    title: "Verdict",
  });

  test("follow the type and the format", async () => {
    const { last, model, agent } = await answer(['{"label": "ham"}'], {
      outputContentType: Verdict,
      outputContentTypeFormat: "{label}!",
    });
    expect(last).toMatchObject({
      type: "StructuredMessage[Verdict]",
      content: { label: "ham", score: 0 },
      format_string: "{label}!",
    });
    expect(model.requests[0]?.options.jsonOutput).toMatchObject({ name: "Verdict" });
    expect(agent.producedMessageTypes).toContain("StructuredMessage[Verdict]");
  });

  test("reflect on tools by default", async () => {
    const { last } = await answer([[callAdd("c1", 1, 2)], '{"label": "sum", "score": 3}'], {
      tools: [add],
      outputContentType: Verdict,
    });
    expect(last).toMatchObject({ content: { label: "sum", score: 3 } });
  });

  test("that do not fit fail the run", async () => {
    const { agent } = scripted(['{"score": 1}'], { outputContentType: Verdict });
    await expect(run(agent, { task: "go" })).rejects.toMatchObject({ code: "invalid_message" });
  });
});

describe("options that do not go together", () => {
  const make = (options: Partial<AssistantAgentOptions>) => () => scripted([], options);

  test.each<[Partial<AssistantAgentOptions>, RegExp]>([
    [{ name: "two words" }, /must be an identifier/],
    [{ name: "__proto__" }, /the agent name "__proto__" is reserved/],
    [{ name: "constructor" }, /is reserved/],
    [{ name: "hasOwnProperty" }, /is reserved/],
    [{ tools: [add, add] }, /"add" is used twice/],
    [{ tools: [add], handoffs: [{ target: "x", name: "add" }] }, /"add" is used twice/],
    [{ tools: [add], handoffs: ["add"] }, /both a tool and the target/],
    [{ handoffs: [{ target: "x", name: "to x" }] }, /handoff.name: must be an identifier/],
    [{ maxToolIterations: 0 }, /maxToolIterations/],
    [{ tools: [add], workbench: [] }, /either tools or workbenches/],
    [
      {
        tools: [add],
        modelClient: new ScriptedChatCompletionClient([], { functionCalling: false }),
      },
      /does not call functions/,
    ],
  ])("%o", (options, message) => {
    expect(make(options)).toThrow(message);
  });

  test("names of other scripts are fine", () => {
    expect(make({ name: "größe_2" })).not.toThrow();
  });
});

describe("state", () => {
  test("is the model context, as AutoGen writes it", async () => {
    const { agent } = await answer(["Hi."]);
    expect(agent.saveState()).toEqual({
      type: "AssistantAgentState",
      version: "1.0.0",
      llm_context: {
        messages: [
          { type: "UserMessage", source: "user", content: "go" },
          { type: "AssistantMessage", source: "alice", content: "Hi.", thought: null },
        ],
      },
    });
  });

  test("moves to another agent and is emptied by a reset", async () => {
    const { agent } = await answer(["Hi."]);
    const { agent: other } = scripted([]);
    other.loadState(agent.saveState());
    expect(other.saveState()).toEqual(agent.saveState());
    await other.onReset(undefined as never);
    expect(await other.modelContext.getMessages()).toEqual([]);
  });

  test("that does not fit changes nothing", async () => {
    const { agent } = await answer(["Hi."]);
    const before = agent.saveState();
    expect(() => agent.loadState({ llm_context: { messages: [{ type: "Nonsense" }] } })).toThrow();
    expect(agent.saveState()).toEqual(before);
  });
});
