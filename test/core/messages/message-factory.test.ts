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

describe("the omitted fields of a message", () => {
  test("are the base fields", () => {
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

  test("include ids, which are taken from the origin only where one is missing", () => {
    const origin = testOrigin();
    loadMessage(complete[0], origin);
    expect(loadMessage({ type: "TextMessage", source: "a", content: "x" }, origin).id).toBe("id-0");
  });

  test("get the defaults of the type", () => {
    const handoff = { type: "HandoffMessage", source: "a", content: "x", target: "b" };
    expect(loadMessage(handoff, testOrigin())).toMatchObject({ context: [] });
    const chunk = { type: "ModelClientStreamingChunkEvent", source: "a", content: "x" };
    expect(loadMessage(chunk, testOrigin())).toMatchObject({ full_message_id: null });
  });

  test("do not include unknown keys, which are dropped", () => {
    const input = { type: "TextMessage", source: "a", content: "x", mood: "good" };
    expect(loadMessage(input, testOrigin())).not.toHaveProperty("mood");
  });
});

describe("a type that this version does not know", () => {
  test("is kept unchanged", () => {
    const input = { ...base, type: "WeatherMessage", content: { sun: true }, station: 7 };
    const message = loadMessage(input, testOrigin());
    expect(message).toEqual(input);
    expect(isChatMessage(message)).toBe(true);
  });

  test("counts as an event when its name says so", () => {
    const message = loadMessage({ type: "WeatherEvent", source: "a" }, testOrigin());
    expect(isChatMessage(message)).toBe(false);
    expect(message).toMatchObject({ metadata: {}, models_usage: null });
  });

  test("needs the base fields", () => {
    expect(() => loadMessage({ type: "WeatherMessage" }, testOrigin())).toThrow("source");
  });
});

describe("a message is refused at its place", () => {
  const refused: [string, unknown, string[]][] = [
    ["no object", "hello", ["task"]],
    ["no type", { source: "a", content: "x" }, ["task.type"]],
    ["a type that is not a text", { type: 5, source: "a" }, ["task.type"]],
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
      "metadata that is not a text",
      { type: "TextMessage", source: "a", content: "x", metadata: { k: 1 } },
      ["task.metadata.k"],
    ],
    [
      "data that is not a picture",
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

test.each<[string | number, string | undefined]>([
  ["2026-01-02T03:04:05.678901+00:00", "2026-01-02T03:04:05.678901+00:00"],
  ["2026-01-02 03:04:05.678901+00:00", "2026-01-02T03:04:05.678901+00:00"],
  ["2026-01-02 03:04:05", "2026-01-02T03:04:05"],
  ["2026-01-02_03:04:05Z", "2026-01-02T03:04:05Z"],
  ["2026-01-02T03:04Z", "2026-01-02T03:04:00Z"],
  ["2026-01-02t03:04:05z", "2026-01-02T03:04:05Z"],
  ["2026-01-02T03:04:05,25+0130", "2026-01-02T03:04:05.25+01:30"],
  ["2026-01-02 03:04:05.678901234 -05", "2026-01-02T03:04:05.678901-05:00"],
  ["2026-01-02T03:04:05\u22120500", "2026-01-02T03:04:05-05:00"],
  ["2024-02-29", "2024-02-29T00:00:00"],
  [1767323045, "2026-01-02T03:04:05Z"],
  [1767323045.678901, "2026-01-02T03:04:05.678901Z"],
  [1767323045678, "2026-01-02T03:04:05.678000Z"],
  ["1767323045", "2026-01-02T03:04:05Z"],
  ["1767323045.5", "2026-01-02T03:04:05.500000Z"],
  [-1, "1969-12-31T23:59:59Z"],
  [0.9999999, "1970-01-01T00:00:01Z"],
  ["2026-02-29", undefined],
  ["2026-13-01T00:00:00Z", undefined],
  ["2026-01-02T24:00:00Z", undefined],
  ["2026-01-02T03:60Z", undefined],
  ["2026-01-02T03:04:60Z", undefined],
  ["2026-01-02T03:04:05+24:00", undefined],
  ["2026-01-02T03", undefined],
  ["2026-01-02Z", undefined],
  ["yesterday", undefined],
  ["", undefined],
  [1e300, undefined],
])("the time %j is %j", (created_at, expected) => {
  const load = () =>
    loadMessage({ type: "TextMessage", source: "a", content: "x", created_at }, testOrigin());
  if (expected === undefined) expect(load).toThrow(/created_at: must be an ISO 8601 date and time/);
  else expect(load()).toMatchObject({ created_at: expected });
});
