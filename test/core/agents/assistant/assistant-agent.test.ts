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

describe("the model's request", () => {
  test("has the system message, then the conversation", async () => {
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

  test("has no system message if it is disabled", async () => {
    const { model } = await answer(["Hi."], { systemMessage: null });
    expect(model.requests[0]?.messages).toHaveLength(1);
  });

  test("has the context of a handoff before the handoff", async () => {
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

  test("has a line of text for each picture if the model does not see, and the context keeps the pictures", async () => {
    const picture = { data: "iVBORw0KGgo=" };
    const task = { type: "MultiModalMessage", source: "user", content: ["Look", picture] } as const;
    const { model, agent } = await answer(["I see."], {}, { ...task, content: [...task.content] });
    expect(model.requests[0]?.messages[1]).toMatchObject({ content: "Look\n<image>" });
    expect((await agent.modelContext.getMessages())[0]).toMatchObject({
      content: ["Look", picture],
    });
  });
});

describe("the streamed pieces", () => {
  test("name the message that they become, and have ids of their own", async () => {
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

  test("give their id to a thought, and the text gets a new one", async () => {
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

  test("are not part of the result", async () => {
    const { agent } = scripted(["a b"], { modelClientStream: true });
    expect(types((await run(agent, { task: "go" })).messages)).toEqual([
      "TextMessage",
      "TextMessage",
    ]);
  });

  test("that come in two rounds do not share the id of the model", async () => {
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

  test("are called until the last round, and only its results are summarised", async () => {
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

  test("reflection that answers with text and calls takes the text", async () => {
    const again = { content: [callAdd("c2", 1, 2)], thought: "Three, let me check." };
    const options = { tools: [add], reflectOnToolUse: true };
    const { items, last, agent } = await answer([[callAdd("c1", 1, 2)], again], options);
    expect(types(items).slice(2)).toEqual(["TextMessage"]);
    expect(last).toMatchObject({ content: "Three, let me check." });
    expect(agent.saveState()).toMatchObject({
      llm_context: {
        messages: [{}, {}, {}, { content: "Three, let me check.", thought: null }],
      },
    });
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

  test("are called by name, with texts built from it", async () => {
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

  const LONG = "specialist_for_returns_of_goods_bought_abroad_before_the_first_of_may";

  test("that have a name which makers of models refuse are offered by their position, and the target is in the description", async () => {
    const targets = [
      "bob",
      "写手",
      "the Boss",
      "🤖",
      `${LONG}_1`,
      `${LONG}_2`,
      "7",
      "Ärzte",
      "ärzte",
    ];
    const handoffs = [...targets, { target: "ö", description: "For all else." }];
    const offered = (at: number) => `transfer_to_${at}`;
    const names = [
      "transfer_to_bob",
      ...[2, 3, 4, 5, 6].map(offered),
      "transfer_to_7",
      ...[8, 9, 10].map(offered),
    ];
    for (const [index, name] of names.entries()) {
      const { last, model } = await answer([[call(name)]], { handoffs });
      const target = [...targets, "ö"][index];
      expect(last).toMatchObject({ type: "HandoffMessage", target });
      const tools = model.requests[0]?.options.tools ?? [];
      expect(tools.map((tool) => tool.name)).toEqual(names);
      expect(tools[index]?.description).toContain(target);
    }
    const own = await answer([[call("transfer_to_写手")]], { handoffs });
    expect(own.last).toMatchObject({ type: "HandoffMessage", target: "写手" });
  });

  test("are offered beside a tool and a target that have the number in their name", async () => {
    const tool = new FunctionTool({
      name: "transfer_to_1",
      description: "Adds.",
      parameters: z.object({}),
      execute: () => 1,
    });
    const { model } = await answer(["Hi."], { tools: [tool], handoffs: ["写手", "2"] });
    const tools = model.requests[0]?.options.tools ?? [];
    expect(tools.map((one) => one.name)).toEqual([
      "transfer_to_1",
      "transfer_to_3",
      "transfer_to_2",
    ]);
  });

  test("take other tools' results along, and the first of two handoffs counts", async () => {
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

  test("take the thought along if they come alone", async () => {
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

  test("include a reflection on tools by default", async () => {
    const { last } = await answer([[callAdd("c1", 1, 2)], '{"label": "sum", "score": 3}'], {
      tools: [add],
      outputContentType: Verdict,
    });
    expect(last).toMatchObject({ content: { label: "sum", score: 3 } });
  });

  test.each([
    ["in a code block", '```json\n{"label": "ham"}\n```'],
    ["behind and before prose", 'Here [1] it is: {"label": "ham"} Does {it} help?'],
    ["behind a thought", '<think>perhaps {"label": "spam"}</think>\n{"label": "ham"}'],
    ["with a byte order mark", '\uFEFF{"label": "ham"}'],
    ["encoded twice", JSON.stringify('{"label": "ham"}')],
    ["beside values that do not fit", '{"score": 3}\n{"label": "ham"}'],
  ])("are read %s", async (_where, text) => {
    const { last, model } = await answer([text], { outputContentType: Verdict });
    expect(last).toMatchObject({ content: { label: "ham", score: 0 } });
    expect(model.requests).toHaveLength(1);
  });

  test.each([
    ["is not JSON", "It is ham.", /not JSON/],
    ["was cut off", '{"label": "spam", "more": [{"label": "ham"}', /not JSON/],
    ["lacks a field", '{"score": 1}', /label: missing/],
    ["is two", '{"label": "ham"} or {"label": "spam"}', /2 JSON values/],
  ])("are requested once more if the first %s", async (_what, first, fault) => {
    const { last, model, agent } = await answer([first, '{"label": "ham"}'], {
      outputContentType: Verdict,
    });
    const [one, two] = model.requests;
    expect(two?.messages).toEqual([
      ...(one?.messages ?? []),
      { type: "AssistantMessage", source: "alice", content: first, thought: null },
      { type: "UserMessage", source: "user", content: expect.stringMatching(fault) as string },
    ]);
    expect(last).toMatchObject({ content: { label: "ham", score: 0 } });
    const context = await agent.modelContext.getMessages();
    expect(context.map(({ content }) => content)).toEqual(["go", '{"label": "ham"}']);
  });

  test("that still do not fit fail the run", async () => {
    const { agent } = scripted(['{"score": 1}', '{"score": 2}'], { outputContentType: Verdict });
    await expect(run(agent, { task: "go" })).rejects.toMatchObject({ code: "invalid_message" });
  });
});

describe("options that exclude each other are refused", () => {
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

  test("names in other scripts are accepted", () => {
    expect(make({ name: "größe_2" })).not.toThrow();
  });
});

describe("the state of an assistant", () => {
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
