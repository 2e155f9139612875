import type { CreateResult } from "../../../core/models/chat-completion-client.ts";
import { type TokenUsage, usageDetails } from "../../../core/models/request-usage.ts";
import type { FunctionCall, MakerData } from "../../../core/models/llm-messages.ts";
import { type AnsweringModel, toResult } from "../chat/reply.ts";
import type { AnthropicUsage } from "./events.ts";

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
  names: AnsweringModel,
  answerTool: string | undefined,
): CreateResult {
  const common = { usage, logprobs: null, troupe };
  const calls = toolCalls.filter(({ name }) => name !== answerTool);
  const answer = toolCalls.find(({ name }) => name === answerTool);
  if (answer !== undefined && calls.length === 0) {
    const result = toResult(
      {
        ...common,
        text: answer.arguments,
        reasoning: thinking ?? (text || null),
        toolCalls: [],
        finishReason: stopReason,
      },
      names,
    );
    return result.finish_reason === "function_calls"
      ? { ...result, finish_reason: "stop" }
      : result;
  }
  return toResult(
    {
      ...common,
      text: calls.length > 0 ? (thinking ?? text) : text,
      reasoning: thinking,
      toolCalls: calls,
      finishReason: stopReason,
    },
    names,
  );
}

/** Input tokens that were written to or read from the cache are counted apart by the API, and are part of the prompt. */
export function usageOf({ input = 0, output = 0, ...usage }: AnthropicUsage): TokenUsage {
  const { cacheWritten = 0, cacheRead = 0, thinking } = usage;
  return {
    prompt_tokens: input + cacheWritten + cacheRead,
    completion_tokens: output,
    ...usageDetails({
      cached_tokens: cacheRead,
      cache_write_tokens: cacheWritten,
      reasoning_tokens: thinking,
    }),
  };
}
