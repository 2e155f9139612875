import type { HumanRequest } from "../../../contract/run.ts";
import { asJson, isJsonObject, type JsonObject } from "../../../core/json.ts";
import type { RequestAnswer } from "../shared/conversation.ts";
import { COUNT } from "./encoder/tool-parts.ts";
import type { UIMessage, UIPart } from "./chat-request.ts";
import type { ChatStreamOptions } from "./encoder/format.ts";

/** The answers to open questions in a message of the assistant that the client sends back. */
export interface ChatAnswers {
  answers: RequestAnswer[];
  /** The options of the stream that follows. */
  options: ChatStreamOptions;
}

/** A tool call in a message of the client. */
interface ToolCallPart extends UIPart {
  toolCallId: string;
}

/** The answers to open questions in a message: approvals, and outputs of tools that the client has. */
export function answersIn({ parts }: UIMessage, open: readonly HumanRequest[]): ChatAnswers {
  const calls = parts.filter(isToolCall);
  const answers: RequestAnswer[] = [];
  const own: string[] = [];
  const denied: string[] = [];
  const decided: Record<string, boolean> = {};
  for (const part of calls) {
    const request = openRequest(part, open);
    const answer = request && (request.kind === "approval" ? verdictOf(part) : outputOf(part));
    if (request === undefined || answer === undefined) continue;
    answers.push({ request: request.id, answer });
    if (request.kind !== "approval") own.push(part.toolCallId);
    else if (request.tool_call === undefined) decided[part.toolCallId] = answer.approved === true;
    else if (answer.approved === false) denied.push(part.toolCallId);
  }
  const answering = answers.map(({ request }) => request);
  return {
    answers,
    options: {
      part: "rest",
      answering,
      asked: open.map(({ id }) => id).filter((id) => !answering.includes(id)),
      calls: calls
        .filter((part) => own.includes(part.toolCallId) || !hasResult(part))
        .map(({ toolCallId }) => toolCallId)
        .filter((id) => !Object.hasOwn(decided, id)),
      own,
      denied,
      decided,
    },
  };
}

function isToolCall(part: UIPart): part is ToolCallPart {
  const isTool = part.type === "dynamic-tool" || part.type.startsWith("tool-");
  return isTool && typeof part.toolCallId === "string";
}

/** The open question about a call. Version 5 keeps no metadata of calls: there the call of the client's tool names it. */
function openRequest(part: ToolCallPart, open: readonly HumanRequest[]): HumanRequest | undefined {
  const named = requestOf(part);
  if (named !== undefined) return open.find(({ id }) => id === named);
  const call = part.toolCallId.replace(COUNT, "");
  return open.find(({ kind, tool_call: asked }) => kind === "tool" && asked?.call_id === call);
}

/** The id of the question about a call, if there is one. */
function requestOf({ approval, toolMetadata }: ToolCallPart): unknown {
  if (isJsonObject(approval)) return approval.id;
  const { troupe } = isJsonObject(toolMetadata) ? toolMetadata : {};
  return isJsonObject(troupe) ? troupe.request : undefined;
}

function verdictOf({ approval }: ToolCallPart): JsonObject | undefined {
  if (!isJsonObject(approval) || typeof approval.approved !== "boolean") return undefined;
  const { approved, reason } = approval;
  return { approved, ...(typeof reason === "string" && reason !== "" && { reason }) };
}

function outputOf({ state, output, errorText }: ToolCallPart): JsonObject | undefined {
  if (state === "output-error") return { content: textOf(errorText), is_error: true };
  return state === "output-available" ? { content: textOf(output) } : undefined;
}

/** A result is a text. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(asJson(value));
}

/** True if a call has its result: one beside a question shows null until then. */
function hasResult({ state, output }: ToolCallPart): boolean {
  return (
    state === "output-error" ||
    state === "output-denied" ||
    (state === "output-available" && output !== null)
  );
}
