import { describe, expect, test } from "vitest";
import type { TroupeError } from "troupe";
import { DATA_FORMATS, type DataFormat, exportItems, importItems } from "troupe/testing";

const lines = (...rows: object[]): string => rows.map((row) => JSON.stringify(row)).join("\n");

describe("OpenAI's open-source evals", () => {
  test("a single message of a user is the task, and ideal is expected", () => {
    const text = lines({
      input: [{ role: "user", content: "2+2?" }],
      ideal: ["4", "four"],
      level: 1,
    });
    expect(importItems("openai-evals", text)).toEqual([
      { task: "2+2?", expected: ["4", "four"], metadata: { level: 1 } },
    ]);
  });

  test("messages of several roles keep them as sources, and few-shot names too", () => {
    const input = [
      { role: "system", content: "Answer with a number." },
      { role: "system", name: "example_user", content: "1+1?" },
      { role: "user", content: "2+2?" },
    ];
    const [item] = importItems("openai-evals", lines({ input, ideal: "4" }));
    expect(item?.task).toEqual([
      { type: "TextMessage", source: "system", content: "Answer with a number." },
      { type: "TextMessage", source: "example_user", content: "1+1?" },
      { type: "TextMessage", source: "user", content: "2+2?" },
    ]);
    expect(JSON.parse(exportItems("openai-evals", item ? [item] : []))).toEqual({
      input: [input[0], { role: "user", name: "example_user", content: "1+1?" }, input[2]],
      ideal: "4",
    });
  });
});

describe("Mastra's datasets", () => {
  test("texts and messages are tasks, and other inputs their JSON", () => {
    const text = JSON.stringify([
      {
        id: "a",
        input: "What is TypeScript?",
        groundTruth: { answer: "JavaScript with types" },
        metadata: { source: "manual" },
      },
      { input: { messages: [{ role: "user", content: "Hi" }] } },
      { input: { question: "What is AI?" }, createdAt: "2026-01-01" },
    ]);
    expect(importItems("mastra", text)).toEqual([
      {
        id: "a",
        task: "What is TypeScript?",
        expected: { answer: "JavaScript with types" },
        metadata: { source: "manual" },
      },
      { task: "Hi" },
      { task: '{"question":"What is AI?"}' },
    ]);
  });
});

describe("HumanEval", () => {
  const row = {
    task_id: "HumanEval/0",
    prompt: "def one():\n",
    entry_point: "one",
    canonical_solution: "    return 1\n",
    test: "def check(f):\n    assert f() == 1\n",
  };

  test("a task keeps its test, and is written as it was read", () => {
    const items = importItems("human-eval", lines(row));
    expect(items).toMatchObject([
      { id: "HumanEval/0", expected: row.canonical_solution, metadata: { entry_point: "one" } },
    ]);
    expect(JSON.parse(exportItems("human-eval", items))).toEqual(row);
  });

  test("a task without a test is refused", () => {
    expect(() => importItems("human-eval", lines({ ...row, test: undefined }))).toThrow(
      "line 1: test: must be a text",
    );
    expect(() => exportItems("human-eval", [{ task: "x" }])).toThrow("metadata.test: is missing");
  });
});

test.each(DATA_FORMATS.filter((format) => format !== "human-eval"))(
  "an item is the same after it was written and read as %s",
  (format: DataFormat) => {
    const items = [{ id: "a", task: "Norway?", expected: "Oslo", metadata: { level: 1 } }];
    expect(importItems(format, exportItems(format, items))).toEqual(items);
  },
);

test("each line that is wrong is named", () => {
  const text = '{"input": "a"}\n\nnot JSON\n[1]\n{"input": 1}';
  let issues: TroupeError["issues"] = [];
  try {
    importItems("openai-evals", text);
  } catch (error) {
    ({ issues } = error as TroupeError);
  }
  expect(issues).toEqual([
    { path: "line 3", message: "must be a JSON object" },
    { path: "line 4", message: "must be a JSON object" },
    { path: "line 5", message: "input: must be a text or a list of messages" },
  ]);
});
