import type { StartRunInput } from "../contract/gateways/team-gateway.ts";

/** The input of a run whose task its client has already. */
export function newRun(
  task: StartRunInput["task"],
  others: Partial<StartRunInput> = {},
): StartRunInput {
  return {
    task,
    output_task_messages: false,
    on_conflict: "reject",
    timeout_seconds: null,
    max_total_tokens: null,
    max_cost: null,
    metadata: {},
    webhook: null,
    ...others,
  };
}
