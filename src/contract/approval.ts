import * as z from "zod";
import { describedJson, describedObject, timeSchema } from "./common.ts";

/** A person's answer to an approval. */
export const givenApprovalSchema = z.object({
  subject: z
    .string()
    .describe("The user of the credential, else its name, else the kind of the credential."),
  approved: z.boolean(),
  reason: z.string().describe("Empty if none was given."),
  at: timeSchema,
});

export type GivenApproval = z.output<typeof givenApprovalSchema>;

const ruleSchema = describedJson(
  'The approval of the component: "human", "once" or a rule with when, by, quorum and remember.',
);

const matchedSchema = z
  .array(
    z.object({
      condition: describedObject("As the rule has it."),
      value: describedJson("The value that it looked at; null where there is none."),
    }),
  )
  .describe("The conditions that hold, or that cannot be compared.");

/** The fields of a request that a rule adds to an approval. */
export const approvalFields = {
  rule: ruleSchema.describe('Missing for "human" and for what is no call of a tool.').optional(),
  matched: matchedSchema.optional(),
  approvals: z
    .array(givenApprovalSchema)
    .describe("The answers so far to these arguments, where more than one subject has to approve.")
    .optional(),
  revision: z
    .number()
    .int()
    .min(2)
    .describe("Counts the changes of the arguments by those who were asked; missing before one.")
    .optional(),
  allow: z
    .array(z.enum(["run", "team"]))
    .describe("The reaches that an approval may have besides this call; missing for none.")
    .optional(),
};

export const decisionSchema = z.object({
  step: z.string().describe("The path of the step that makes the call, below the turn."),
  agent: z.string().describe("The agent that calls the tool."),
  tool: z.string().describe("execute_code for the code of an agent."),
  arguments: describedObject("As they were approved or called."),
  rule: ruleSchema,
  matched: matchedSchema,
  outcome: z
    .enum(["ran", "approved", "refused", "expired"])
    .describe("ran: no human was asked, by the rule or by a stored approval."),
  by: z
    .array(givenApprovalSchema)
    .describe("Those who answered; where a stored approval let the call run, those who gave it."),
  request_id: z.string().nullable().describe("The request that was answered; null for ran."),
  at: timeSchema,
});

export type Decision = z.output<typeof decisionSchema>;

export const decisionPageSchema = z.object({
  decisions: z.array(decisionSchema).describe("Oldest first."),
  next_cursor: z.string().nullable().describe("Pass as cursor; null at the end."),
});

export type DecisionPage = z.output<typeof decisionPageSchema>;

export const storedApprovalSchema = z.object({
  id: z.string(),
  agent: z.string(),
  tool: z.string(),
  arguments: describedObject("A call with these arguments, and no others, needs no human."),
  by: z.array(z.string()).describe("The subjects that approved."),
  at: timeSchema,
  uses: z.number().int().min(0).describe("The calls that it let run."),
  run_id: z.string().nullable().describe("The run with which it ends; null for the whole team."),
});

export type StoredApproval = z.output<typeof storedApprovalSchema>;

export const storedApprovalPageSchema = z.object({
  approvals: z.array(storedApprovalSchema).describe("Oldest first."),
  next_cursor: z.string().nullable().describe("Pass as cursor; null at the end."),
});

export type StoredApprovalPage = z.output<typeof storedApprovalPageSchema>;
