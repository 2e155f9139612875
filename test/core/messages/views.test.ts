import { describe, expect, test } from "vitest";
import type { ChatMessage, JsonObject } from "troupe";
import { loadMessage, toModelMessage, toModelText, toText } from "troupe";
import { testOrigin } from "./origin.ts";

const picture = { data: "iVBORw0KGgoAAAANSUhEUg==" };

function message(fields: JsonObject): ChatMessage {
  return loadMessage({ source: "a", ...fields }, testOrigin()) as ChatMessage;
}

describe("a chat message", () => {
  test.each(["TextMessage", "StopMessage"])("that is %s has its text in every view", (type) => {
    const text = message({ type, content: "one\ntwo" });
    expect(toText(text)).toBe("one\ntwo");
    expect(toModelText(text)).toBe("one\ntwo");
    expect(toModelMessage(text)).toEqual({ content: "one\ntwo", source: "a", type: "UserMessage" });
  });

  test("names pictures in texts and keeps them for models", () => {
    const content = ["look: ", picture, "nice"];
    const seen = message({ type: "MultiModalMessage", content });
    expect(toText(seen)).toBe("look: \n<image>\nnice");
    expect(toModelText(seen)).toBe("look:  [image]nice");
    expect(toModelMessage(seen).content).toEqual(content);
  });

  test("has structured content as compact JSON without a format", () => {
    const plain = message({ type: "StructuredMessage[S]", content: { a: "é", n: [1, null] } });
    expect(toText(plain)).toBe('{"a":"é","n":[1,null]}');
    expect(toModelText(plain)).toBe('{"a":"é","n":[1,null]}');
  });

  test("has a format for texts, and models get the content itself", () => {
    const formatted = message({
      type: "StructuredMessage[S]",
      content: { name: "Cy", points: 10.26 },
      format_string: "{name}: {points:.1f}",
    });
    expect(toText(formatted)).toBe("Cy: 10.3");
    expect(toModelText(formatted)).toBe("Cy: 10.3");
    expect(toModelMessage(formatted).content).toBe('{"name":"Cy","points":10.26}');
  });

  test("shows all content of an unknown type", () => {
    expect(toText(message({ type: "OddMessage", content: "x" }))).toBe("x");
    expect(toText(message({ type: "OddMessage", content: [1] }))).toBe("[1]");
    expect(toModelMessage(message({ type: "OddMessage" })).content).toBe("");
  });
});

describe("an event", () => {
  const events: [JsonObject, string][] = [
    [
      { type: "ToolCallRequestEvent", content: [{ id: "1", arguments: '{"a": 1}', name: "f" }] },
      `[FunctionCall(id='1', arguments='{"a": 1}', name='f')]`,
    ],
    [
      {
        type: "ToolCallExecutionEvent",
        content: [{ content: "it's", name: "f", call_id: "1", is_error: false }],
      },
      `[FunctionExecutionResult(content="it's", name='f', call_id='1', is_error=False)]`,
    ],
    [
      { type: "MemoryQueryEvent", content: [{ content: "tea", mime_type: "text/plain" }] },
      "[MemoryContent(content='tea', mime_type='text/plain', metadata=None)]",
    ],
    [{ type: "SelectSpeakerEvent", content: ["a", "b"] }, "['a', 'b']"],
    [
      { type: "CodeExecutionEvent", retry_attempt: 0, result: { exit_code: 1, output: "oops" } },
      "oops",
    ],
    [{ type: "CodeGenerationEvent", retry_attempt: 0, content: "code", code_blocks: [] }, "code"],
    [{ type: "UserInputRequestedEvent", request_id: "r" }, ""],
    [{ type: "ThoughtEvent", content: "hm" }, "hm"],
  ];
  test.each(events)("%j", (fields, text) => {
    expect(toText(message(fields))).toBe(text);
  });
});
