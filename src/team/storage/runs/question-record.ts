import { loginOfRecord } from "../../../contract/gateways/login-sight.ts";
import { type JsonObject, withNumbers } from "../../../core/json.ts";
import type {
  Answer,
  LoginOfQuestion,
  Question,
  QuestionForm,
  ToolCallQuestion,
} from "../../../core/turn/turn-context.ts";

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
  timeout_seconds?: number | null;
  default_answer?: Answer | null;
}

/** The record of a question; missing fields are left out. */
export function recordOf(question: Question): QuestionRecord {
  const { toolCall, timeoutSeconds, defaultAnswer, ...same } = question;
  return {
    ...same,
    ...(toolCall !== undefined && { tool_call: callRecord(toolCall) }),
    ...(timeoutSeconds !== undefined && { timeout_seconds: timeoutSeconds }),
    ...(defaultAnswer !== undefined && { default_answer: defaultAnswer }),
  };
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
