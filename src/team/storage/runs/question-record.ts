import { loginOfRecord } from "../../../contract/gateways/login-sight.ts";
import type { HumanRequest } from "../../../contract/run.ts";
import type { approvalFields, GivenApproval } from "../../../contract/approval.ts";
import { type JsonObject, parseJson, sortedJson, withNumbers } from "../../../core/json.ts";
import { reachesOf } from "../../../core/rules/rule-of-approval.ts";
import type { Matched } from "../../../core/rules/judge-call.ts";
import type {
  Answer,
  JudgedQuestion,
  LoginOfQuestion,
  Question,
  QuestionForm,
  ToolCallQuestion,
} from "../../../core/turn/turn-context.ts";
import { type DecidedCall, shownMatch } from "./decision-store.ts";

/** A {@link Question} as it is stored. The API shows it without the last two fields, and without the address of a login. */
export interface QuestionRecord {
  id: string;
  kind: Question["kind"];
  source: string;
  prompt: string;
  code?: string;
  tool_call?: { name: string; arguments: JsonObject; call_id?: string; parameters?: JsonObject };
  form?: QuestionForm;
  login?: LoginOfQuestion;
  judged?: JudgedRecord;
  timeout_seconds?: number | null;
  default_answer?: Answer | null;
}

/** The call that an approval is about, with what its rule found and the answers so far. */
export interface JudgedRecord extends Omit<JudgedQuestion, "arguments" | "values" | "step"> {
  /** The path of its step. */
  step: string;
  /** The arguments as JSON, which keeps all numbers. */
  arguments: string;
  /** False if the tool gets other arguments than those that are shown: changed ones cannot be judged here. */
  shows_all: boolean;
  /** The number of its call in the run. */
  call: number;
  matched: readonly Matched[];
  approvals: readonly ApprovalRecord[];
  /** The number of times that the arguments were changed, and one. */
  revision: number;
}

/** A person's answer to an approval, and the answer as it was sent. */
export interface ApprovalRecord extends GivenApproval {
  sent: string;
  allow?: "run" | "team" | undefined;
}

/** The findings of the rule when the question was asked. */
export type FoundAtAsking = Pick<JudgedRecord, "matched" | "call" | "step">;

/** The record of a question; missing fields are left out. */
export function recordOf(question: Question, found?: FoundAtAsking): QuestionRecord {
  const { toolCall, timeoutSeconds, defaultAnswer, judged, ...same } = question;
  return {
    ...same,
    ...(judged && found && { judged: judgedRecord(judged, found) }),
    ...(toolCall !== undefined && { tool_call: callRecord(toolCall) }),
    ...(timeoutSeconds !== undefined && { timeout_seconds: timeoutSeconds }),
    ...(defaultAnswer !== undefined && { default_answer: defaultAnswer }),
  };
}

function judgedRecord(
  { arguments: args, values, ...judged }: JudgedQuestion,
  found: FoundAtAsking,
): JudgedRecord {
  const shown = sortedJson(args);
  return {
    ...judged,
    ...found,
    matched: found.matched.map(shownMatch),
    arguments: JSON.stringify(args),
    shows_all: values.every((value) => sortedJson(value) === shown),
    approvals: [],
    revision: 1,
  };
}

/** The call of a question, for the list of decisions. */
export function decidedCall(
  { question, run }: { question: QuestionRecord; run: string },
  { approval, tool, identity, step, matched, arguments: args }: JudgedRecord,
): DecidedCall {
  const judged = { approval, tool, identity, arguments: parseJson(args) as JsonObject };
  return { id: question.id, run, agent: question.source, step, judged, matched };
}

/** The part of a call's rule that its request shows. */
export function shownRule({
  approval,
  matched,
  approvals,
  revision,
}: JudgedRecord): Pick<HumanRequest, keyof typeof approvalFields> {
  const reaches = reachesOf(approval);
  const allow = reaches.length > 0 && { allow: [...reaches] };
  if (approval === "human") return { ...allow };
  return {
    rule: approval,
    matched: matched.map(shownMatch),
    ...(approvals.length > 0 && { approvals: approvals.map(givenOf) }),
    ...(revision > 1 && { revision }),
    ...allow,
  };
}

/** An answer as it is shown. */
export function givenOf({ subject, approved, reason, at }: ApprovalRecord): GivenApproval {
  return { subject, approved, reason, at };
}

/** Reads a stored record, also one of an earlier version. */
export function readRecord(text: string): QuestionRecord {
  const { url, ...record } = JSON.parse(text) as QuestionRecord & { url?: string };
  return { ...record, ...loginOfRecord({ ...record, url }) };
}

/**
 * The call as it is shown. A number that JavaScript would change is a text here, because questions cross isolates and reach
 * programs in JavaScript; as a text in edited arguments it is the number again.
 */
function callRecord({ callId, ...call }: ToolCallQuestion): QuestionRecord["tool_call"] {
  const shown = { ...call, arguments: withNumbers(call.arguments, String) as JsonObject };
  return { ...shown, ...(callId !== undefined && { call_id: callId }) };
}
