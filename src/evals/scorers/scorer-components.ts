import * as z from "zod";
import type { AnyComponentDefinition } from "../../core/component/component.ts";
import { ValueError } from "../../core/errors.ts";
import type { PythonHost } from "../../core/python/python-host.ts";
import { jsonMatch } from "./json-match.ts";
import { modelJudge, teamJudge } from "./judges.ts";
import { pythonScorer } from "./python-scorer.ts";
import { type ScoreFunction, scoreOf, scorerDefinition, verdict } from "./scorer.ts";
import { exactMatch, includes, numericClose, regex } from "./text-scorers.ts";
import { toolCalls } from "./tool-calls.ts";

const bound = z.number().min(0).optional();

const limitsSchema = z
  .strictObject({ turns: bound, tokens: bound, cost: bound, seconds: bound })
  .refine((limits) => Object.values(limits).some((limit) => limit !== undefined), {
    error: "needs at least one of turns, tokens, cost and seconds",
  });

/** Passes where a run stays within each of the limits. */
const limits = scorerDefinition("Limits", limitsSchema, (config) => (run) => {
  const { turns, seconds, cost, usage } = run;
  if (config.cost !== undefined && cost === null) {
    throw new ValueError("the cost is unknown, because a model has no price: give prices");
  }
  const tokens = usage.prompt_tokens + usage.completion_tokens;
  const used = { turns, tokens, cost: cost ?? 0, seconds };
  const above = (["turns", "tokens", "cost", "seconds"] as const).flatMap((name) => {
    const limit = config[name];
    return limit !== undefined && used[name] > limit ? [`${used[name]} ${name} of ${limit}`] : [];
  });
  return verdict(above.length === 0, above.join("; "));
});

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
