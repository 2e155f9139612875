import { describe, expect, test } from "vitest";
import type { Json } from "troupe";
import { difference } from "./compare.ts";
import { IdMap } from "./ids.ts";
import { samePrompt } from "./printed-lists.ts";
import { compareBySource, compareEvents } from "./runs.ts";
import { topLevelField } from "./steps.ts";
import { differsInFractions, sameText } from "./texts.ts";

const said = (id: string, source: string, content: string): { [key: string]: Json } => ({
  id,
  source,
  content,
  type: "TextMessage",
});

const result = (...messages: Json[]): Json => ({
  type: "TaskResult",
  stop_reason: "end",
  messages,
});

describe("values", () => {
  test.each<[Json, Json]>([
    [
      { a: 1, b: [2.0] },
      { b: [2], a: 1 },
    ],
    [null, null],
    [{ source: "a" }, { source: "a", created_at: "now" }],
  ])("%j equals %j", (expected, actual) => {
    expect(difference(expected, actual, {})).toBeUndefined();
  });

  test.each<[Json, Json, string]>([
    [{ a: { b: [1, 2] } }, { a: { b: [1, 3] } }, "a.b[1]"],
    [{ a: 1 }, { a: 1, b: null }, "b"],
    [{ a: 1, b: null }, { a: 1 }, "b"],
    [[1], [1, 2], "[1]"],
    ["1", 1, ""],
    [[], {}, ""],
  ])("%j differs from %j at %s", (expected, actual, path) => {
    expect(difference(expected, actual, {})?.path).toBe(path);
  });
});

describe("ids", () => {
  const same = (ids: IdMap, expected: Json, actual: Json): boolean =>
    difference(expected, actual, { ids }) === undefined;

  test("are bound when they first meet and must agree later, both ways", () => {
    const ids = new IdMap();
    expect(same(ids, { id: "m1" }, { id: "x" })).toBe(true);
    expect(same(ids, { id: "m1" }, { id: "y" })).toBe(false);
    expect(same(ids, { id: "m2" }, { id: "x" })).toBe(false);
    expect(same(ids, { full_message_id: "m1" }, { full_message_id: "x" })).toBe(true);
  });

  test("that were not generated are literal, and so are those of tool calls", () => {
    const ids = new IdMap();
    expect(same(ids, { id: "fixed-1" }, { id: "other" })).toBe(false);
    expect(
      same(ids, { id: "m1", arguments: "{}", name: "f" }, { id: "x", arguments: "{}", name: "f" }),
    ).toBe(false);
  });

  test("are replaced in the implementation's input, and unbound ones stay and are bound", () => {
    const ids = new IdMap();
    expect(same(ids, { id: "m1" }, { id: "x" })).toBe(true);
    expect(ids.toActual([{ id: "m1", content: "m1" }, { id: "m2" }])).toEqual([
      { id: "x", content: "m1" },
      { id: "m2" },
    ]);
    expect(same(ids, { id: "m2" }, { id: "z" })).toBe(false);
  });

  test("met in an attempt are forgotten unless it is adopted", () => {
    const ids = new IdMap();
    const attempt = ids.fork();
    expect(attempt.agree("m1", "x")).toBe(true);
    expect(ids.fork().agree("m1", "y")).toBe(true);
    ids.adopt(attempt);
    expect(ids.agree("m1", "y")).toBe(false);
  });
});

describe("texts", () => {
  test("that end in a Python error are compared up to its beginning", () => {
    expect(sameText("f: Error: Expecting value", "f: Error: no JSON")).toBe(true);
    expect(sameText("f: Error: Expecting value", "g: Error: Expecting value")).toBe(false);
    expect(sameText("Error: x", "x")).toBe(false);
    expect(sameText("1 validation error for args\nb", "b is missing")).toBe(true);
    expect(sameText("no error", "none")).toBe(false);
  });

  test("that contain a Python call stack are not compared, and neither is one that quotes the schema library first", () => {
    const stack = "ValueError: no\nTraceback:\nTraceback (most recent call last):\n\n  File x";
    expect(sameText(stack, "no")).toBe(true);
    expect(sameText("ValueError: no", "no")).toBe(false);
    const quoted = "1 validation error for addargs\nError: tool 'x' not found";
    expect(sameText(quoted, "Error: not an object")).toBe(true);
  });

  test("may print the lists of a conversation differently in prompts", () => {
    const recorded = "Talk:\nann: ['a', <Image object at 0x1>]\n\n\nbob: b\n\n\nWho of ['x', 'y']?";
    expect(samePrompt(recorded, "Talk:\nann: a\n<image>\n\n\nbob: b\n\n\nWho of ['x', 'y']?")).toBe(
      true,
    );
    expect(samePrompt(recorded, "Talk:\nann: a\n\n\nbob: c\n\n\nWho of ['x', 'y']?")).toBe(false);
    expect(samePrompt(recorded, "Talk:\nann: a\n\n\nbob: b\n\n\nWho of ['x', 'z']?")).toBe(false);
    expect(samePrompt("ann: [a]\n\n", "ann: a\n\n")).toBe(false);
    expect(samePrompt("One of: ['a']\n", "One of: ['b']\n")).toBe(false);
  });

  test("may differ in fractions only in structured content", () => {
    expect(differsInFractions('{"a":3.0,"b":"x 1.0"}', '{"a":3,"b":"x 1.0"}')).toBe(true);
    expect(differsInFractions("3.0 and 4.0.", "3 and 4.")).toBe(true);
    expect(differsInFractions("v1.0.2", "v1.2")).toBe(false);
    expect(differsInFractions("3.05", "35")).toBe(false);
    expect(differsInFractions("3", "3.0")).toBe(false);
    expect(differsInFractions("3.0", "4")).toBe(false);
  });
});

describe("runs", () => {
  const stream = (...ids: string[]): Json[] => [
    said(ids[0] ?? "", "a", "1"),
    said(ids[1] ?? "", "b", "2"),
    result(...ids),
  ];

  test("have a result that names the messages of their stream", () => {
    const events = [
      said("x", "a", "1"),
      said("y", "b", "2"),
      result(said("x", "a", "1"), said("y", "b", "2")),
    ];
    expect(compareEvents(stream("m1", "m2"), events, { ids: new IdMap() })).toBeUndefined();
    const other = [
      said("x", "a", "1"),
      said("y", "b", "2"),
      result(said("x", "a", "1"), said("y", "b", "3")),
    ];
    expect(compareEvents(stream("m1", "m2"), other, { ids: new IdMap() })?.path).toBe(
      "events[2].messages[1].source",
    );
  });

  test("have events in a fixed order, unless agents ran side by side", () => {
    const turned = [
      said("y", "b", "2"),
      said("x", "a", "1"),
      result(said("y", "b", "2"), said("x", "a", "1")),
    ];
    expect(compareEvents(stream("m1", "m2"), turned, { ids: new IdMap() })).toBeDefined();
    expect(compareBySource(stream("m1", "m2"), turned, {})).toBeUndefined();
  });

  test("have equal events of each source, an equal result and an equal reason if agents ran side by side", () => {
    const [first = null, second = null] = stream("m1", "m2");
    const wanted = [first, second, result("m1", "m2")];
    expect(compareBySource(wanted, [first, result("m1")], {})?.path).toContain("events of b");
    expect(compareBySource(wanted, [first, second, result("m1")], {})?.path).toBe(
      "result.messages",
    );
    expect(compareBySource(wanted, [first, second], {})).toBeDefined();
    const reason = { type: "TaskResult", stop_reason: "other", messages: ["m1", "m2"] };
    expect(compareBySource(wanted, [first, second, reason], {})?.path).toBe("stop_reason");
  });
});

test.each([
  ["component.config.name", "name"],
  ["component.config.participants[0].config.max_messages", "max_messages"],
  ["component.config.participants[0].provider", "participants"],
  ["component.provider", "provider"],
  ["component.config", "config"],
])("a mistake at %s is one of the field %s", (path, field) => {
  expect(topLevelField(path)).toBe(field);
});
