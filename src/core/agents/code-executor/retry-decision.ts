import * as z from "zod";
import { lenientParse } from "../../component/checks/lenient-parse.ts";
import { TroupeError } from "../../errors.ts";
import { issuesOf, listIssues } from "../../issues.ts";
import type { JsonOutput } from "../../models/chat-completion-client.ts";

const retryDecisionSchema = z.object({ reason: z.string(), retry: z.boolean() });

/** Whether failed code is rewritten, and how or why not (AutoGen `RetryDecision`). */
export type RetryDecision = z.infer<typeof retryDecisionSchema>;

/** How a model is asked for a decision. */
export const RETRY_DECISION: JsonOutput = {
  name: "RetryDecision",
  schema: {
    properties: {
      reason: { title: "Reason", type: "string" },
      retry: { title: "Retry", type: "boolean" },
    },
    required: ["reason", "retry"],
    title: "RetryDecision",
    type: "object",
  },
};

/** @throws TroupeError `bad_decision` when a model's text is not one */
export function readRetryDecision(text: string, agent: string): RetryDecision {
  const refused = (why: string) =>
    new TroupeError(
      "bad_decision",
      `the model of "${agent}" was to decide about another attempt: ${why}`,
    );
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refused("its answer is not JSON");
  }
  const { data, error } = lenientParse(retryDecisionSchema, value);
  if (data === undefined) throw refused(listIssues(issuesOf(error)));
  return data;
}
