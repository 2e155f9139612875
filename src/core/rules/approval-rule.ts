import * as z from "zod";
import { APPROVAL_SCOPE } from "./approval-scope.ts";
import { conditionsSchema } from "./condition.ts";

const MOST_APPROVERS = 50;
const LARGEST_QUORUM = 20;

const approverSchema = z
  .string()
  .refine(
    (name) => APPROVAL_SCOPE.test(name) || /^user:.{1,200}$/.test(name),
    "must be a scope such as approvals:finance, or a user such as user:anna",
  );

export const approvalRuleSchema = z
  .strictObject({
    /** A human is asked if any of them holds or cannot be compared. None: always. */
    when: conditionsSchema.optional(),
    /** The scopes and users that approve. Left out, whoever may answer questions. */
    by: z.array(approverSchema).min(1).max(MOST_APPROVERS).optional(),
    /** The number of subjects that have to approve. Default 1. */
    quorum: z.number().int().min(1).max(LARGEST_QUORUM).optional(),
    /** The reach of an answer that is to count for equal calls, too: the run, or the team as well. Left out, none. */
    remember: z.enum(["run", "team"]).optional(),
    /** Seconds after which the request counts as refused. */
    timeout_seconds: z.number().positive().optional(),
  })
  .superRefine(({ by, quorum = 1 }, context) => {
    if (by === undefined || by.some((name) => !name.startsWith("user:"))) return;
    const users = new Set(by).size;
    if (users >= quorum) return;
    const message = `cannot be reached: by names ${users === 1 ? "one user" : `${users} users`}`;
    context.addIssue({ code: "custom", path: ["quorum"], message });
  });

/** A rule that says which calls a human has to approve, and who. */
export type ApprovalRule = z.infer<typeof approvalRuleSchema>;

/** `human`: each call. `once`: until a call of the run was approved. */
export const approvalSchema = z.union(
  [z.enum(["human", "once"]), approvalRuleSchema],
  'must be "human", "once" or a rule such as { "when": [{ "argument": "amount", "above": 100 }] }',
);

export type Approval = z.infer<typeof approvalSchema>;
