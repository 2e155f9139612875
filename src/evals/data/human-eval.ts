/** Runs the program of an answer with the test of a HumanEval task. */
export const HUMAN_EVAL_SCORER = {
  name: "passes",
  provider: "troupe.scorers.PythonScorer",
  config: {
    timeout: 30,
    source_code: `import re

def score(output, item):
    task = item["metadata"]
    name = task["entry_point"]
    blocks = re.findall(r"\`\`\`(?:python)?\\n(.*?)\`\`\`", output, re.S)
    code = "\\n".join(blocks) or output
    if f"def {name}" in code:
        # The imports and helpers of the task come first.
        code = task["prompt"].split(f"def {name}")[0] + "\\n" + code
    else:
        code = task["prompt"] + code
    try:
        exec(code + "\\n" + task["test"] + f"\\ncheck({name})\\n", {"__name__": "task"})
    except BaseException as error:
        return {"score": 0, "reason": type(error).__name__ + ": " + str(error)}
    return 1
`,
  },
};
