import type { CreateResult } from "../../../core/models/chat-completion-client.ts";
import { type TokenUsage, usageDetails } from "../../../core/models/request-usage.ts";
import type { FunctionCall, MakerData } from "../../../core/models/llm-messages.ts";
import { toResult } from "../chat/reply.ts";

/** Stop reasons that AutoGen names differently. */
const STOP_REASONS: { readonly [reason: string]: string } = {
  max_tokens: "length",
  model_context_window_exceeded: "length",
  stop_sequence: "stop",
  refusal: "content_filter",
  tool_use: "tool_calls",
};

/** A message of the model, streamed or not. */
export interface ModelMessage {
  text: string;
  /** Null when there was none. */
  thinking: string | null;
  toolCalls: FunctionCall[];
  stopReason: string | null | undefined;
  usage: TokenUsage;
  /** Data to send back with the next request. */
  troupe: MakerData | undefined;
}

/** @param answerTool the name of the tool whose arguments are the answer */
export function resultOf(
  { text, thinking, toolCalls, stopReason, usage, troupe }: ModelMessage,
  family: string,
  answerTool: string | undefined,
): CreateResult {
  const reason = STOP_REASONS[stopReason ?? ""] ?? stopReason;
  const common = { usage, logprobs: null, troupe };
  const calls = toolCalls.filter(({ name }) => name !== answerTool);
  const answer = toolCalls.find(({ name }) => name === answerTool);
  if (answer !== undefined && calls.length === 0)
    return toResult(
      {
        ...common,
        text: answer.arguments,
        reasoning: thinking ?? (text || null),
        toolCalls: [],
        finishReason: reason === "tool_calls" ? "stop" : reason,
      },
      family,
    );
  return toResult(
    {
      ...common,
      text: calls.length > 0 ? (thinking ?? text) : text,
      reasoning: thinking,
      toolCalls: calls,
      finishReason: reason,
    },
    family,
  );
}

/** Usage of a message or of an event. Servers of other providers omit parts of it. */
export interface Usage {
  input_tokens?: number | null;
  output_tokens?: number | null;
  cache_creation_input_tokens?: number | null;
  cache_read_input_tokens?: number | null;
  output_tokens_details?: { thinking_tokens?: number | null } | null;
}

/** Input tokens that were written to or read from the cache are counted apart by the API, and are part of the prompt. */
export function usageOf(usage: Usage | null | undefined): TokenUsage {
  return {
    prompt_tokens:
      (usage?.input_tokens ?? 0) +
      (usage?.cache_creation_input_tokens ?? 0) +
      (usage?.cache_read_input_tokens ?? 0),
    completion_tokens: usage?.output_tokens ?? 0,
    ...usageDetails({
      cached_tokens: usage?.cache_read_input_tokens,
      cache_write_tokens: usage?.cache_creation_input_tokens,
      reasoning_tokens: usage?.output_tokens_details?.thinking_tokens,
    }),
  };
}
