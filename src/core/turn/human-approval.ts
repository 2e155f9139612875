import * as z from "zod";
import { ValueError } from "../errors.ts";
import { hashId } from "../hash.ts";
import { type JsonObject, sortedJson } from "../json.ts";
import { type Approval, type ApprovalRule, approvalSchema } from "../rules/approval-rule.ts";
import { ruleOf } from "../rules/rule-of-approval.ts";
import type { Approved, Question, TurnContext } from "./turn-context.ts";

/** The keys of component JSON that require a human's approval. */
export const humanApprovalSchema = z.object({
  /** The calls that a human has to approve. */
  approval: approvalSchema.nullish(),
  /** Seconds after which the request counts as refused. Without it the run waits without a limit. */
  approval_timeout_seconds: z.number().positive().nullish(),
});

/** The key `approval` of components that cannot ask for one. */
export const noApprovalSchema = z
  .null({ error: "has no effect here: tools ask for approval, and code executor agents" })
  .optional();

/** A human has to approve. */
export interface HumanApproval {
  /** The calls for which a human is asked. Left out, all of them. */
  rule?: "once" | ApprovalRule;
  /** Seconds after which the request counts as refused; null waits without a limit. */
  timeoutSeconds: number | null;
}

/** The decision about a call. */
export interface Verdict {
  approved: boolean;
  /** Empty if none was given. */
  reason: string;
  /** Replaces the arguments of the tool call. */
  arguments: JsonObject | undefined;
  /** Undefined for a call that needed none. */
  approval: Approved | undefined;
}

/** @throws ValueError for an invalid timeout, or one without an approval */
export function humanApproval(
  approval: Approval | null | undefined,
  timeoutSeconds: number | null = null,
): HumanApproval | null {
  if (timeoutSeconds !== null && !(timeoutSeconds > 0)) {
    throw refused(`must be more than 0 seconds, not ${timeoutSeconds}`);
  }
  if (approval == null) {
    if (timeoutSeconds !== null) throw refused('is only of use with "approval"');
    return null;
  }
  const ofRule = ruleOf(approval)?.timeout_seconds;
  if (ofRule !== undefined && timeoutSeconds !== null) {
    throw refused("stands beside timeout_seconds of the rule: give one of the two");
  }
  return {
    ...(approval !== "human" && { rule: approval }),
    timeoutSeconds: ofRule ?? timeoutSeconds,
  };
}

/** An approval as component JSON has it. */
export function givenApproval({ rule }: HumanApproval): Approval {
  return rule ?? "human";
}

/** The same as keys of {@link humanApprovalSchema}; null without an approval. */
export function humanApprovalConfig(approval: HumanApproval | null) {
  const ofRule = approval?.rule !== undefined && typeof approval.rule === "object";
  const inRule = ofRule && (approval.rule as ApprovalRule).timeout_seconds !== undefined;
  return {
    approval: approval && givenApproval(approval),
    approval_timeout_seconds: approval && !inRule ? approval.timeoutSeconds : null,
  };
}

/** A call for which a human may have to be asked. */
export interface JudgedCall {
  /** The name of the tool. */
  tool: string;
  /** The key of the step that makes the call. */
  step: string;
  /** The arguments as they are shown, and as the tool gets them; of code, one for each block. */
  arguments: JsonObject;
  values: readonly JsonObject[];
  /** The component that makes the call: an approval is for this one only. */
  component: unknown;
}

/**
 * Asks a human for approval, before any step of the call, unless the rule or an earlier approval lets the call run.
 *
 * @param call left out for questions that are about something else than the call of a tool
 * @throws ValueError when the answer belongs to another kind of question
 */
export async function askHuman(
  approval: HumanApproval,
  question: Pick<Question, "source" | "prompt" | "code" | "toolCall">,
  ctx: TurnContext,
  call?: JudgedCall,
): Promise<Verdict> {
  const given = givenApproval(approval);
  const { timeoutSeconds } = approval;
  const answer = await ctx.ask({
    ...question,
    id: ctx.id(),
    kind: "approval",
    timeoutSeconds,
    ...(call && { judged: { ...withIdentity(call), approval: given } }),
  });
  if (!("approved" in answer)) {
    throw new ValueError(`"${question.source}" asked for an approval and got an input`);
  }
  const { approved, reason = "", arguments: edited, given: by } = answer;
  return { approved, reason, arguments: edited, approval: by && { ...by, rule: given } };
}

function withIdentity({ component, ...call }: JudgedCall) {
  return { ...call, identity: hashId(sortedJson(component)) };
}

function refused(message: string): ValueError {
  const path = "approval_timeout_seconds";
  return new ValueError(`${path} ${message}`, { issues: [{ path, message }] });
}
