import type { JsonObject } from "../../../core/json.ts";
import type {
  Answer,
  Question,
  QuestionForm,
  ToolCallQuestion,
} from "../../../core/turn/turn-context.ts";

/** A {@link Question} as it is stored. The API shows it without the last two fields. */
export interface QuestionRecord {
  id: string;
  kind: Question["kind"];
  source: string;
  prompt: string;
  code?: string;
  tool_call?: { name: string; arguments: JsonObject; call_id?: string; parameters?: JsonObject };
  form?: QuestionForm;
  url?: string;
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

function callRecord({ callId, ...same }: ToolCallQuestion): QuestionRecord["tool_call"] {
  return { ...same, ...(callId !== undefined && { call_id: callId }) };
}
