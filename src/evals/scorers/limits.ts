import * as z from "zod";
import { ValueError } from "../../core/errors.ts";
import { scorerDefinition, verdict } from "./scorer.ts";

const bound = z.number().min(0).optional();

const configSchema = z
  .strictObject({ turns: bound, tokens: bound, cost: bound, seconds: bound })
  .refine((limits) => Object.values(limits).some((limit) => limit !== undefined), {
    error: "needs at least one of turns, tokens, cost and seconds",
  });

/** Passes where a run stays within each of the limits. */
export const limits = scorerDefinition("Limits", configSchema, (config) => (run) => {
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
