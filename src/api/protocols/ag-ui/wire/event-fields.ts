import type { JsonObject } from "../../../../core/json.ts";
import type { ChatMessage } from "../../../../core/messages/message.ts";
import type { FunctionExecutionResult } from "../../../../core/models/llm-messages.ts";
import type { RunInfo } from "../../../../contract/run.ts";
import { subtractTokens, type TokensByModel } from "../../../../contract/usage/model-usage.ts";
import { OWN, type TokenUsage } from "./events.ts";

// Fields of events and messages, which streams and snapshots share.

export type OwnMetadata = { metadata?: { [OWN]: object } };

/** Models reuse the ids of calls; clients know a call by its id alone. @param request id of the event with the call */
export function toolCallId(request: string, call: string): string {
  return `${request}:${call}`;
}

/** The id that the model gave the call. */
export function callOf(id: string): string {
  return id.slice(id.indexOf(":") + 1);
}

/** The id of a tool message. @param execution id of the event with the result */
export function resultId(execution: string, index: number): string {
  return `${execution}:${index}`;
}

/** The fields of a message beside its text: its type, and what clients may want to show. */
export function aboutMessage(message: ChatMessage): OwnMetadata {
  const { type, models_usage, metadata } = message;
  const about = {
    type,
    ...(models_usage !== null && { models_usage }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...ownFields(message),
  };
  return { metadata: { [OWN]: about } };
}

/** Fields of a message that are not in its text. */
function ownFields(message: ChatMessage): JsonObject {
  switch (message.type) {
    case "TextMessage":
    case "StopMessage":
    case "ToolCallSummaryMessage":
      return {};
    case "HandoffMessage":
      return { target: message.target };
    case "MultiModalMessage":
      return { content: message.content };
    default: {
      // Structured ones, and those of later versions.
      const { id: _id, source: _source, created_at: _at, type: _type, ...rest } = message;
      const { models_usage: _usage, metadata: _metadata, ...fields } = rest;
      return fields;
    }
  }
}

export function aboutSource(source: string): OwnMetadata {
  return { metadata: { [OWN]: { source } } };
}

export function aboutResult({ is_error }: FunctionExecutionResult): OwnMetadata {
  return is_error === true ? { metadata: { [OWN]: { is_error } } } : {};
}

/** The tokens of a run, by model. @param spent those that earlier requests have reported */
export function usageOf(run: RunInfo | undefined, spent: TokensByModel = {}): TokenUsage[] {
  return Object.entries(subtractTokens(run?.models ?? {}, spent))
    .map(([model, { prompt_tokens, completion_tokens, ...parts }]) => ({
      model,
      inputTokens: prompt_tokens,
      outputTokens: completion_tokens,
      totalTokens: prompt_tokens + completion_tokens,
      ...(parts.reasoning_tokens && { reasoningTokens: parts.reasoning_tokens }),
      ...(parts.cached_tokens && { cachedInputTokens: parts.cached_tokens }),
      ...(parts.cache_write_tokens && { cacheWriteInputTokens: parts.cache_write_tokens }),
    }))
    .filter(({ totalTokens }) => totalTokens > 0);
}
