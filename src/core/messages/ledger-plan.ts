/** Stands above the plan in the message in which an orchestrator shows its task ledger. */
export const PLAN_HEADING = "The plan we start from:";

/** A numbered step, or an item of a list. */
const STEP = /^\s*(?:\d+[.)]|[-*•])\s+(?<step>\S.*)$/;

/**
 * The steps of a plan that an orchestrator shows with the built-in prompt; undefined for any other text, and for a plan that is
 * not a list.
 */
export function ledgerPlan(text: string): string[] | undefined {
  const at = text.indexOf(PLAN_HEADING);
  if (at === -1) return undefined;
  const lines = text.slice(at + PLAN_HEADING.length).split("\n");
  const steps = lines.flatMap((line) => STEP.exec(line)?.groups?.["step"]?.trim() ?? []);
  return steps.length === 0 ? undefined : steps;
}
