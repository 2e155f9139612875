import * as z from "zod";
import type { AnyComponentDefinition } from "../../core/component/component.ts";
import { endOf } from "../../core/cut.ts";
import { ValueError } from "../../core/errors.ts";
import { isJsonObject, parsedJson } from "../../core/json.ts";
import { type PythonHost, runBlock } from "../../core/python/python-host.ts";
import { scoreOf, scorerDefinition, verdict } from "./scorer.ts";

const configSchema = z.strictObject({
  /** Python that defines `score(output: str, item: dict)`, which returns a number from 0 to 1 or a dict like a score. */
  source_code: z.string().regex(/\bdef\s+score\s*\(/, "must define score(output, item)"),
  /** Seconds. */
  timeout: z.int().min(1).max(300).default(60),
});

/**
 * A function in Python that runs in the sandbox. An exception in it is a failure of the scorer. A run that takes too long or ends
 * the interpreter scores 0, because scorers execute programs that a model wrote.
 *
 * @param python undefined where there is no sandbox: the scorer is then known and cannot be loaded
 */
export function pythonScorer(python: PythonHost | undefined): AnyComponentDefinition {
  return scorerDefinition("PythonScorer", configSchema, ({ source_code, timeout }) => {
    if (python === undefined) {
      throw new ValueError("PythonScorer needs a sandbox: set SANDBOX_URL and SANDBOX_KEY");
    }
    return async ({ item, output }, { signal }) => {
      // A session of its own, which nothing of another run is in.
      const executor = python.scratch(timeout);
      const mark = crypto.randomUUID();
      try {
        const { task, expected, metadata } = item;
        const known = { id: item.id, task, expected, metadata };
        const code = programOf(source_code, output, known, mark);
        const result = await runBlock(
          executor,
          { language: "python", code },
          { attempt: 1, idempotencyKey: mark, signal },
        );
        const printed = result.output.split("\n").findLast((line) => line.startsWith(mark));
        if (printed === undefined) {
          return verdict(false, `the program ended without a result: ${lastWords(result.output)}`);
        }
        const outcome = parsedJson(printed.slice(mark.length));
        if (!isJsonObject(outcome)) throw new ValueError("score returned what is not JSON");
        if ("error" in outcome)
          throw new ValueError(`score failed: ${JSON.stringify(outcome["error"])}`);
        return scoreOf(outcome["value"], "score");
      } finally {
        await executor.close();
      }
    };
  });
}

const LONGEST_END = 300;

function lastWords(output: string): string {
  return endOf(output.trim(), LONGEST_END) || "it printed nothing";
}

/** JSON is written as a text in Python, because both have the same escapes in texts. */
function programOf(source: string, output: string, item: object, mark: string): string {
  const text = (value: unknown): string => JSON.stringify(JSON.stringify(value));
  return `import json as _json
def _run():
    names = {"__name__": "scorer"}
    try:
        exec(compile(_json.loads(${text(source)}), "<scorer>", "exec"), names)
        return {"value": names["score"](_json.loads(${text(output)}), _json.loads(${text(item)}))}
    except Exception as error:
        return {"error": type(error).__name__ + ": " + str(error)}
_outcome = _run()
try:
    _line = _json.dumps(_outcome)
except (TypeError, ValueError) as error:
    _line = _json.dumps({"error": str(error)})
print("\\n${mark}" + _line)
`;
}
