import * as z from "zod";
import { hash64 } from "../../hash.ts";
import type { JsonObject } from "../../json.ts";
import { withoutNulls } from "../../component/component.ts";
import { optionsOf, parseOptions } from "../../options/option-names.ts";
import { requireTemplates } from "../../text/check-format.ts";
import { DEFAULT_PROMPTS, type OrchestratorPrompts } from "./orchestrator-prompts.ts";

/** `orchestrator_prompts` of component JSON. The key is ours, AutoGen ignores it. */
export const promptsConfigSchema = z.object({
  task_ledger_facts: z.string().nullish(),
  task_ledger_plan: z.string().nullish(),
  task_ledger_full: z.string().nullish(),
  progress_ledger: z.string().nullish(),
  task_ledger_facts_update: z.string().nullish(),
  task_ledger_plan_update: z.string().nullish(),
});
/** The placeholders of templates. */
export type PromptValues = {
  task: string;
  team: string;
  facts: string;
  plan: string;
  names: string;
};

const NO_VALUES: PromptValues = { task: "", team: "", facts: "", plan: "", names: "" };

export function promptsFromConfig(
  config: z.infer<typeof promptsConfigSchema>,
): Partial<OrchestratorPrompts> {
  const prompts = withoutNulls(config);
  return optionsOf(promptsConfigSchema, prompts) as Partial<OrchestratorPrompts>;
}

export function promptsToConfig(prompts: Partial<OrchestratorPrompts>): JsonObject {
  return withoutNulls(parseOptions(promptsConfigSchema, prompts, "orchestratorPrompts"));
}

/**
 * The given prompts, completed with the defaults.
 *
 * @throws ValueError naming each template that is malformed or has an unknown placeholder
 */
export function completePrompts(given: Partial<OrchestratorPrompts>): OrchestratorPrompts {
  requireTemplates(
    Object.entries(promptsToConfig(given)).map(([key, template]) => ({
      path: `orchestrator_prompts.${key}`,
      template: template as string,
      example: NO_VALUES,
    })),
  );
  return { ...DEFAULT_PROMPTS, ...given };
}

/** A hash of AutoGen's own prompt for the final answer. */
const AUTOGEN_FINAL_ANSWER_HASH = "b9aec18155bebe90";

/**
 * True if `{task}` is filled in in a prompt for the final answer: AutoGen does so in its own text, which the components
 * it dumps contain, and in no other.
 */
export function isFinalAnswerTemplate(prompt: string): boolean {
  return hash64(prompt) === AUTOGEN_FINAL_ANSWER_HASH;
}
