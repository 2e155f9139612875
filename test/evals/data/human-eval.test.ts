import { expect, test } from "vitest";
import { importItems } from "troupe/testing";
import { HUMAN_EVAL_SCORER } from "#evals/data/formats.ts";
import { LocalPython } from "../../support/local-python.ts";
import { ended, registryWith, score } from "../scorers/support.ts";

const registry = registryWith(new LocalPython());
const [task] = importItems(
  "human-eval",
  JSON.stringify({
    task_id: "HumanEval/0",
    prompt:
      'from typing import List\n\ndef total(numbers: List[int]) -> int:\n    """The sum."""\n',
    entry_point: "total",
    canonical_solution: "    return sum(numbers)\n",
    test: "def check(candidate):\n    assert candidate([1, 2]) == 3\n    assert candidate([]) == 0\n",
  }),
);

test.each([
  ["the rest of the function", "    return sum(numbers)\n", true],
  [
    "a block with the whole function",
    "Here:\n```python\ndef total(numbers: List[int]) -> int:\n    return sum(numbers)\n```",
    true,
  ],
  ["a fault", "    return sum(numbers) or 1\n", false],
  ["no program", "I cannot.", false],
  ["a program that ends the interpreter", "    raise SystemExit(0)\n", false],
])("a programming task is scored by its test: %s", async (_name, output, pass) => {
  const run = { ...ended({ output }), item: { id: "HumanEval/0", ...task } };
  const found = await score("PythonScorer", HUMAN_EVAL_SCORER.config, run, registry);
  expect(found).toMatchObject({ pass, score: pass ? 1 : 0 });
});
