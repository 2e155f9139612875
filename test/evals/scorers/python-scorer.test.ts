import { expect, test } from "vitest";
import { LocalPython } from "../../support/local-python.ts";
import { ended, registryWith, score } from "./support.ts";

const python = new LocalPython();
const registry = registryWith(python);
const run = ended({ output: 'He said "41"\u2028\u{1f600}', expected: 42 });

test.each([
  ["return len(output) / 100", { score: 0.14, pass: false, reason: "" }],
  ["return str(item['expected'] - 1) in output", { score: 1, pass: true, reason: "" }],
  [
    "print('noise'); return {'score': 0.5, 'reason': item['task']}",
    { score: 0.5, pass: true, reason: "Do it." },
  ],
  ["raise SystemExit(0)", { score: 0, pass: false }],
])("scores in Python: %s", async (body, wanted) => {
  const config = { source_code: `def score(output, item):\n    ${body}` };
  expect(await score("PythonScorer", config, run, registry)).toMatchObject(wanted);
  expect(python.open).toBe(0);
});

test.each([
  ["return 1 / 0", 'score failed: "ZeroDivisionError: division by zero"'],
  ["return 2", "score must return true, false, a number from 0 to 1"],
  ["return {1, 2}", 'score failed: "Object of type set is not JSON serializable"'],
])("an error in Python is one of the scorer: %s", async (body, message) => {
  const config = { source_code: `def score(output, item):\n    ${body}` };
  await expect(score("PythonScorer", config, run, registry)).rejects.toThrow(message);
});

test("a program without an end scores 0", async () => {
  const source_code = "def score(output, item):\n    while True:\n        pass";
  const config = { source_code, timeout: 1 };
  expect(await score("PythonScorer", config, run, registry)).toMatchObject({
    score: 0,
    pass: false,
  });
});

test("a scorer in Python needs a sandbox", () => {
  const model = { provider: "PythonScorer", config: { source_code: "def score(o, i): return 1" } };
  expect(registryWith().validate(model, "scorer")).toMatchObject([
    { message: expect.stringContaining("needs a sandbox") as string },
  ]);
});
