import type {
  HandoffMessage,
  TextMessage,
  ToolCallSummaryMessage,
} from "../../messages/chat-messages.ts";
import { createMessage, type MessageOrigin } from "../../messages/create.ts";
import type { ChatMessage } from "../../messages/message.ts";
import type { RequestUsage } from "../../models/request-usage.ts";
import { assistantMessage, type CallsResult } from "../../models/assistant-message.ts";
import type {
  FunctionCall,
  FunctionExecutionResult,
  LLMMessage,
} from "../../models/llm-messages.ts";
import { formatPython } from "../../text/format.ts";
import type { AssistantSettings } from "./settings.ts";

/** A model's reply that asked for tool calls, and their results, index by index. */
export interface Executed {
  reply: CallsResult;
  results: readonly FunctionExecutionResult[];
}

/** The parts of a final message. */
export interface FinalText {
  id: string;
  content: string;
  usage: RequestUsage;
  /** False after reflection, where AutoGen shows structured content as JSON. */
  withFormat: boolean;
}

/**
 * The model's text as the answer.
 *
 * @throws MessageError when the agent answers with structured messages and the text does not fit their schema
 */
export function finalMessage(
  { name, output }: AssistantSettings,
  origin: MessageOrigin,
  { id, content, usage, withFormat }: FinalText,
): ChatMessage {
  const fields = { id, source: name, models_usage: usage };
  if (output === undefined) {
    return createMessage<TextMessage>(origin, { ...fields, type: "TextMessage", content });
  }
  return output.create(origin, { ...fields, content: output.parse(content), withFormat });
}

/** The answer built from the tools' results, without another model call. */
export function summaryMessage(
  { name, handoffOf, toolCallSummaryFormat, toolCallSummaryFormatter }: AssistantSettings,
  origin: MessageOrigin,
  executed: Executed,
): ToolCallSummaryMessage {
  const done = pairs(executed).filter(([call]) => !handoffOf.has(call.name));
  const text = (call: FunctionCall, result: FunctionExecutionResult): string =>
    toolCallSummaryFormatter?.(call, result) ?? formatSummary(toolCallSummaryFormat, call, result);
  return createMessage<ToolCallSummaryMessage>(origin, {
    type: "ToolCallSummaryMessage",
    source: name,
    content: done.map(([call, result]) => text(call, result)).join("\n"),
    tool_calls: done.map(([call]) => call),
    results: done.map(([, result]) => result),
  });
}

function formatSummary(
  format: string,
  call: FunctionCall,
  { content, is_error }: FunctionExecutionResult,
): string {
  if (format === "{result}") return content;
  return formatPython(format, {
    tool_name: call.name,
    arguments: call.arguments,
    result: content,
    is_error,
  });
}

/**
 * The handoff that a model requested, if any; only the first of several counts. The other tools' calls and results, or
 * otherwise the model's thought, become its context.
 */
export function handoffMessage(
  { name, handoffOf }: AssistantSettings,
  origin: MessageOrigin,
  executed: Executed,
): HandoffMessage | undefined {
  const { reply } = executed;
  const selected = reply.content.map((call) => handoffOf.get(call.name)).find((handoff) => handoff);
  if (selected === undefined) return undefined;
  const others = pairs(executed).filter(([call]) => !handoffOf.has(call.name));
  const own = pairs(executed).findLast(([call]) => call.name === selected.name);
  return createMessage<HandoffMessage>(origin, {
    type: "HandoffMessage",
    source: name,
    content: own?.[1].content ?? selected.message,
    target: selected.target,
    context: handoffContext(name, others, reply),
  });
}

function handoffContext(
  source: string,
  others: readonly (readonly [FunctionCall, FunctionExecutionResult])[],
  reply: CallsResult,
): LLMMessage[] {
  if (others.length > 0) {
    return [
      assistantMessage({ ...reply, content: others.map(([call]) => call) }, source),
      { content: others.map(([, result]) => result), type: "FunctionExecutionResultMessage" },
    ];
  }
  if (!reply.thought) return [];
  return [{ content: reply.thought, thought: null, source, type: "AssistantMessage" }];
}

function pairs({ reply, results }: Executed): [FunctionCall, FunctionExecutionResult][] {
  return reply.content.flatMap((call, index) => {
    const result = results[index];
    return result === undefined ? [] : [[call, result]];
  });
}
