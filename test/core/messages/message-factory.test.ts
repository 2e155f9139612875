import { describe, expect, test } from "vitest";
import { MessageError, isChatMessage, loadMessage } from "troupe";
import { testOrigin } from "./origin.ts";

const base = {
  id: "m1",
  source: "a",
  models_usage: null,
  metadata: {},
  created_at: "2026-01-02T03:04:05.678Z",
};

const complete = [
  { ...base, content: "hello", type: "TextMessage" },
  { ...base, content: ["look", { data: "iVBORw0KGgoAAAANSUhEUg==" }], type: "MultiModalMessage" },
  { ...base, content: "enough", type: "StopMessage" },
  {
    ...base,
    content: "yours",
    target: "b",
    context: [
      { content: "sys", type: "SystemMessage" },
      { content: "why", source: "u", type: "UserMessage" },
      { content: "so", thought: null, source: "b", type: "AssistantMessage" },
      {
        content: [{ content: "1", name: "f", call_id: "c", is_error: null }],
        type: "FunctionExecutionResultMessage",
      },
    ],
    type: "HandoffMessage",
  },
  {
    ...base,
    content: "3",
    tool_calls: [{ id: "c", arguments: "{}", name: "f" }],
    results: [{ content: "3", name: "f", call_id: "c", is_error: false }],
    type: "ToolCallSummaryMessage",
  },
  { ...base, content: { a: [1, null] }, format_string: "{a}", type: "StructuredMessage[Any]" },
  { ...base, content: [{ id: "c", arguments: "{}", name: "f" }], type: "ToolCallRequestEvent" },
  {
    ...base,
    content: [{ content: "3", name: "f", call_id: "c", is_error: true }],
    type: "ToolCallExecutionEvent",
  },
  {
    ...base,
    retry_attempt: 0,
    content: "text",
    code_blocks: [{ code: "1", language: "python" }],
    type: "CodeGenerationEvent",
  },
  {
    ...base,
    retry_attempt: 1,
    result: { exit_code: 2, output: "no", code_file: "x.py" },
    type: "CodeExecutionEvent",
  },
  { ...base, request_id: "r", content: "", type: "UserInputRequestedEvent" },
  {
    ...base,
    content: [{ content: "tea", mime_type: "text/plain", metadata: null }],
    type: "MemoryQueryEvent",
  },
  { ...base, content: "chu", full_message_id: null, type: "ModelClientStreamingChunkEvent" },
  { ...base, content: "hm", type: "ThoughtEvent" },
  { ...base, content: ["a", "b"], type: "SelectSpeakerEvent" },
  { ...base, content: "asked again", type: "SelectorEvent" },
];

test.each(complete.map((message) => [message.type, message]))(
  "a complete %s loads as it is",
  (_type, message) => {
    expect(loadMessage(message, testOrigin())).toEqual(message);
  },
);

describe("what may be left out", () => {
  test("the base fields", () => {
    const message = loadMessage({ type: "TextMessage", source: "a", content: "x" }, testOrigin());
    expect(message).toEqual({
      id: "id-0",
      source: "a",
      models_usage: null,
      metadata: {},
      created_at: "2026-01-02T03:04:05.000Z",
      content: "x",
      type: "TextMessage",
    });
  });

  test("ids are taken from the origin only where one is missing", () => {
    const origin = testOrigin();
    loadMessage(complete[0], origin);
    expect(loadMessage({ type: "TextMessage", source: "a", content: "x" }, origin).id).toBe("id-0");
  });

  test("the defaults of a type", () => {
    const handoff = { type: "HandoffMessage", source: "a", content: "x", target: "b" };
    expect(loadMessage(handoff, testOrigin())).toMatchObject({ context: [] });
    const chunk = { type: "ModelClientStreamingChunkEvent", source: "a", content: "x" };
    expect(loadMessage(chunk, testOrigin())).toMatchObject({ full_message_id: null });
  });

  test("keys a type does not have are dropped", () => {
    const input = { type: "TextMessage", source: "a", content: "x", mood: "good" };
    expect(loadMessage(input, testOrigin())).not.toHaveProperty("mood");
  });
});

describe("types this version does not know", () => {
  test("are kept as they are", () => {
    const input = { ...base, type: "WeatherMessage", content: { sun: true }, station: 7 };
    const message = loadMessage(input, testOrigin());
    expect(message).toEqual(input);
    expect(isChatMessage(message)).toBe(true);
  });

  test("count as events when they are named so", () => {
    const message = loadMessage({ type: "WeatherEvent", source: "a" }, testOrigin());
    expect(isChatMessage(message)).toBe(false);
    expect(message).toMatchObject({ metadata: {}, models_usage: null });
  });

  test("need the base fields", () => {
    expect(() => loadMessage({ type: "WeatherMessage" }, testOrigin())).toThrow("source");
  });
});

describe("what is refused, and where", () => {
  const refused: [string, unknown, string[]][] = [
    ["no object", "hello", ["task"]],
    ["no type", { source: "a", content: "x" }, ["task.type"]],
    ["a type that is no text", { type: 5, source: "a" }, ["task.type"]],
    ["several mistakes", { type: "TextMessage", content: 5 }, ["task.source", "task.content"]],
    ["a missing field", { type: "HandoffMessage", source: "a", content: "x" }, ["task.target"]],
    [
      "a mistake inside",
      {
        type: "HandoffMessage",
        source: "a",
        content: "x",
        target: "b",
        context: [{ type: "UserMessage", content: "x" }],
      },
      ["task.context[0].source"],
    ],
    ["null for an id", { type: "TextMessage", source: "a", content: "x", id: null }, ["task.id"]],
    [
      "an invalid time",
      { type: "TextMessage", source: "a", content: "x", created_at: "now" },
      ["task.created_at"],
    ],
    [
      "metadata that is no text",
      { type: "TextMessage", source: "a", content: "x", metadata: { k: 1 } },
      ["task.metadata.k"],
    ],
    [
      "data that is no picture",
      { type: "MultiModalMessage", source: "a", content: ["x", { data: "AAAA" }] },
      ["task.content[1].data"],
    ],
    [
      "a format that does not suit the content",
      { type: "StructuredMessage[A]", source: "a", content: { b: 1 }, format_string: "{c}" },
      ["task.format_string"],
    ],
  ];
  test.each(refused)("%s", (_what, input, paths) => {
    let thrown: unknown;
    try {
      loadMessage(input, testOrigin(), "task");
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(MessageError);
    expect((thrown as MessageError).issues.map((issue) => issue.path)).toEqual(paths);
    for (const path of paths) expect((thrown as MessageError).message).toContain(path);
  });
});
