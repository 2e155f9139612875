import * as z from "zod";
import { lenientParse } from "../../component/checks/lenient-parse.ts";
import { TroupeError } from "../../errors.ts";
import { issuesOf, listIssues } from "../../issues.ts";
import type { JsonOutput } from "../../models/chat-completion-client.ts";
import { formatPython } from "../../text/format.ts";
import { readJson } from "../../text/model-json.ts";
import type { ExecutorPrompts } from "./prompts.ts";

const retryDecisionSchema = z.object({ reason: z.string(), retry: z.boolean() });

/** The decision to rewrite failed code, and how, or not to, and why (AutoGen `RetryDecision`). */
export type RetryDecision = z.infer<typeof retryDecisionSchema>;

/** The form in which a model gives the decision. */
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

/** The question whether code that failed is rewritten. @param output what it printed */
export function retryQuestion({ retry }: ExecutorPrompts, output: string): string {
  return formatPython(retry, { output });
}

/** @throws TroupeError `bad_decision` when a model's text is not one */
export function readRetryDecision(text: string, agent: string): RetryDecision {
  const reading = readJson<RetryDecision>(text, (value) => {
    const { data, error } = lenientParse(retryDecisionSchema, value);
    return data === undefined ? { fault: listIssues(issuesOf(error)) } : { value: data };
  });
  if ("value" in reading) return reading.value;
  throw new TroupeError(
    "bad_decision",
    `the model of "${agent}" was to decide about another attempt: ${reading.fault}`,
  );
}
