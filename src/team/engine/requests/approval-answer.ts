import { type Approver, mayApprove } from "../../../contract/gateways/approver.ts";
import { ok, refuse, type Refused, type Result } from "../../../contract/result.ts";
import { type JsonObject, parseJson, sortedJson, withNumbers } from "../../../core/json.ts";
import { reachesOf, ruleOf } from "../../../core/rules/rule-of-approval.ts";
import { judgeCall } from "../../../core/rules/judge-call.ts";
import type { Answer } from "../../../core/turn/turn-context.ts";
import { LONGEST_REMEMBERED, MOST_APPROVALS } from "../../storage/runs/approval-store.ts";
import { shownMatch } from "../../storage/runs/decision-store.ts";
import type {
  ApprovalRecord,
  JudgedRecord,
  QuestionRecord,
} from "../../storage/runs/question-record.ts";
import type { StoredQuestion } from "../../storage/runs/question-store.ts";

/** An answer to an approval as it was sent. */
export type SentApproval = Extract<Answer, { approved: boolean }>;

/** The effect of an answer to an approval. */
export interface ApprovalStep {
  /** The question with the answer. */
  question: QuestionRecord;
  /** The answer that closes it; undefined while others have to approve. */
  answer: SentApproval | undefined;
  /** The reach that all who approved have given it. */
  allow: "run" | "team" | undefined;
}

/**
 * Judges an answer to an approval that is about a call. Nothing is stored.
 *
 * @param stored the open question
 * @param room the number of approvals that can still be stored
 * @returns undefined for an answer that its sender has given before
 */
export function judgeApproval(
  { question }: StoredQuestion,
  judged: JudgedRecord,
  sent: SentApproval & { revision?: number | undefined },
  approver: Approver,
  room: number,
): Result<ApprovalStep | undefined> {
  const { revision = judged.revision, ...answer } = sent;
  const text = JSON.stringify(answer);
  const own = judged.approvals.find(({ subject }) => subject === approver.subject);
  if (own?.sent === text) return ok(undefined);
  if (own !== undefined) return answeredOtherwise();
  if (revision !== judged.revision) return argumentsChanged(judged.revision);
  const refused = refuseReach(judged, answer, approver, room);
  if (refused) return refused;
  const given: ApprovalRecord = {
    subject: approver.subject,
    approved: answer.approved,
    reason: answer.reason ?? "",
    at: new Date().toISOString(),
    sent: text,
    allow: answer.allow,
  };
  if (!answer.approved) {
    const approvals = [...judged.approvals, given];
    const closed = { ...question, judged: { ...judged, approvals } };
    return ok({ question: closed, answer, allow: undefined });
  }
  const changed = changedCall(question, judged, answer.arguments);
  const approvals = [...(changed ? [] : judged.approvals), given];
  const after = { ...judged, ...changed?.judged, approvals };
  const { quorum = 1 } = ruleOf(judged.approval) ?? {};
  const isEnough = approvals.length >= quorum || changed?.isFree === true;
  if (!isEnough) {
    // The next approver is shown the changed call. A closed question keeps the call, beside the arguments of its answer.
    const shown = { ...question, ...(changed && { tool_call: changed.tool_call }), judged: after };
    return ok({ question: shown, answer: undefined, allow: undefined });
  }
  const isEdited = answer.arguments === undefined && after.revision > 1;
  const edited = isEdited ? { arguments: parseJson(after.arguments) as JsonObject } : {};
  return ok({
    question: { ...question, judged: after },
    answer: { ...answer, ...edited },
    allow: reachOf(approvals),
  });
}

/** The call with other arguments, which the rule judges again; undefined where they are the same. */
function changedCall(
  { tool_call }: QuestionRecord,
  judged: JudgedRecord,
  args: JsonObject | undefined,
):
  | { judged: Partial<JudgedRecord>; tool_call: QuestionRecord["tool_call"]; isFree: boolean }
  | undefined {
  if (args === undefined || tool_call === undefined) return undefined;
  if (sortedJson(args) === sortedJson(parseJson(judged.arguments))) return undefined;
  const earlier = { count: judged.call - 1, approved: false };
  const matched = judged.shows_all ? judgeCall(judged.approval, [args], earlier) : [];
  return {
    judged: {
      arguments: JSON.stringify(args),
      matched: (matched ?? []).map(shownMatch),
      revision: judged.revision + 1,
    },
    tool_call: { ...tool_call, arguments: withNumbers(args, String) as JsonObject },
    isFree: matched === undefined,
  };
}

/** The reach of an approval is the least that anyone has given it. */
function reachOf(approvals: readonly ApprovalRecord[]): "run" | "team" | undefined {
  if (approvals.some(({ allow }) => allow === undefined)) return undefined;
  return approvals.every(({ allow }) => allow === "team") ? "team" : "run";
}

function refuseReach(
  judged: JudgedRecord,
  { allow, arguments: args }: SentApproval,
  { scopes }: Approver,
  room: number,
): Refused | undefined {
  if (allow === undefined) return undefined;
  const reaches = reachesOf(judged.approval);
  if (!reaches.includes(allow)) {
    const may =
      reaches.length === 0 ? "only for this call" : "for this call or its run, not for the team";
    return notRememberable(`may be approved ${may}: its rule says so with remember`);
  }
  if (allow === "team" && !scopes.includes("teams:write")) {
    const detail = "An approval for the whole team needs the scope teams:write.";
    return refuse(403, "missing_scope", detail, { scope: "teams:write" });
  }
  if ((args ? JSON.stringify(args) : judged.arguments).length > LONGEST_REMEMBERED) {
    const most = `${LONGEST_REMEMBERED} characters`;
    return notRememberable(`has arguments of more than ${most}, which are not stored`);
  }
  if (room > 0) return undefined;
  const detail = `The team has ${MOST_APPROVALS} stored approvals, the most that are allowed. Revoke some of them.`;
  return refuse(429, "too_many_approvals", detail, { limit: "approvals", value: MOST_APPROVALS });
}

/** The refusal of a reach that the approval cannot have. @param reason completes "this call ..." */
export function notRememberable(reason: string): Refused {
  const detail = `The answer cannot be remembered: this call ${reason}.`;
  const errors = [{ path: "allow", message: "cannot be given here" }];
  return { ok: false, problem: { status: 422, code: "not_rememberable", detail, errors } };
}

/** The refusal of a person whom the rule does not name. */
export function refuseApprover(judged: JudgedRecord, approver: Approver): Refused | undefined {
  const by = ruleOf(judged.approval)?.by;
  if (mayApprove(by, approver)) return undefined;
  const detail = `This call is approved or refused by ${by?.join(", ")} only, and this credential is none of them.`;
  return refuse(403, "not_an_approver", detail);
}

export function answeredOtherwise(): Refused {
  const detail = "The request was answered before with another answer.";
  return refuse(409, "already_answered", detail);
}

function argumentsChanged(revision: number): Refused {
  const detail = `The arguments were changed by another approver after they were shown. Read the request again: its revision is ${revision} now.`;
  return refuse(409, "arguments_changed", detail, { revision });
}
