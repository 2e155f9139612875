import * as z from "zod";
import type { AnyComponentDefinition } from "../../core/component/component.ts";
import type { PythonHost } from "../../core/python/python-host.ts";
import { jsonMatch } from "./json-match.ts";
import { modelJudge, teamJudge } from "./judges.ts";
import { limits } from "./limits.ts";
import { pythonScorer } from "./python-scorer.ts";
import { type ScoreFunction, scoreOf, scorerDefinition } from "./scorer.ts";
import { exactMatch, includes, numericClose, regex } from "./text-scorers.ts";
import { toolCalls } from "./tool-calls.ts";

/** A function that was registered in code (`registerFunction`) as a scorer. */
const functionScorer = scorerDefinition(
  "FunctionScorer",
  z.strictObject({ function: z.string().min(1) }),
  (config, loader) => {
    const score = loader.function<ScoreFunction>(config.function, "function");
    return async (run) => scoreOf(await score(run), `the function "${config.function}"`);
  },
);

/** All scorers that component JSON can name. @param python runs those in Python; without it they cannot be loaded */
export function scorerComponents(python?: PythonHost): AnyComponentDefinition[] {
  return [
    exactMatch,
    includes,
    regex,
    jsonMatch,
    numericClose,
    toolCalls,
    limits,
    modelJudge,
    teamJudge,
    pythonScorer(python),
    functionScorer,
  ];
}
