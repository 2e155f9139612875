import type { ChatCompletion } from "openai/resources/chat/completions";
import type { CreateResult, TokenLogprob } from "../../../../core/models/chat-completion-client.ts";
import { type TokenUsage, usageDetails } from "../../../../core/models/request-usage.ts";
import { ModelError } from "../../../../core/models/model-error.ts";
import { type ModelNames, newCallId, toResult } from "../../chat/reply.ts";
import { keepFields } from "./given-fields.ts";
import { type GivenMessage, GivenParts, textsOf } from "./given-parts.ts";
import type { Maker } from "../maker.ts";

/** A model and the operator of its server. */
export interface Served extends ModelNames {
  maker: Maker;
}

/** The shown text of a message or a part of one, and its reasoning, which servers put in several places. */
export function shownTexts(message: GivenMessage & { refusal?: string | null }): {
  text: string;
  reasoning: string | null;
} {
  const { text, thinking } = textsOf(message.content);
  const reasoning = message.reasoning_content ?? message.reasoning ?? thinking;
  return {
    text: text || message.refusal || "",
    reasoning: typeof reasoning === "string" ? reasoning : null,
  };
}

interface Usage {
  prompt_tokens?: number | null;
  completion_tokens?: number | null;
  total_tokens?: number | null;
  prompt_tokens_details?: {
    cached_tokens?: number | null;
    cache_write_tokens?: number | null;
  } | null;
  completion_tokens_details?: { reasoning_tokens?: number | null } | null;
  /** DeepSeek's name for the cached tokens. */
  prompt_cache_hit_tokens?: number | null;
  /** Moonshot's field for the cached tokens. */
  cached_tokens?: number | null;
}

/** Some servers omit the usage or parts of it. */
export function usageOf(usage: Usage | null | undefined, maker: Maker): TokenUsage {
  const { prompt_tokens_details: prompt, completion_tokens_details: completion } = usage ?? {};
  const thinking = thinkingApart(usage, maker);
  return {
    prompt_tokens: usage?.prompt_tokens ?? 0,
    completion_tokens: (usage?.completion_tokens ?? 0) + thinking,
    ...usageDetails({
      cached_tokens:
        prompt?.cached_tokens ?? usage?.prompt_cache_hit_tokens ?? usage?.cached_tokens,
      cache_write_tokens: prompt?.cache_write_tokens,
      reasoning_tokens: completion?.reasoning_tokens ?? thinking,
    }),
  };
}

/**
 * The tokens of thinking that a server counts in the total alone, though they cost as much as completion tokens. xAI says how
 * many they are (https://docs.x.ai/docs/key-information/consumption-and-rate-limits), Google does not.
 */
function thinkingApart(usage: Usage | null | undefined, { name }: Maker): number {
  const { prompt_tokens, completion_tokens, total_tokens, completion_tokens_details } = usage ?? {};
  const rest = (total_tokens ?? 0) - (prompt_tokens ?? 0) - (completion_tokens ?? 0);
  const isThinking = name === "google" || completion_tokens_details?.reasoning_tokens === rest;
  return isThinking ? Math.max(0, rest) : 0;
}

type SdkLogprobs = NonNullable<ChatCompletion.Choice["logprobs"]>["content"];

export function logprobsOf(logprobs: SdkLogprobs | undefined): TokenLogprob[] | null {
  if (!Array.isArray(logprobs) || logprobs.length === 0) return null;
  return logprobs.map(({ token, logprob, bytes, top_logprobs }) => ({
    token,
    logprob,
    bytes: bytes ?? null,
    top_logprobs:
      top_logprobs?.map((top) => ({ logprob: top.logprob, bytes: top.bytes ?? null })) ?? null,
  }));
}

/**
 * Reads the body of an answer that was not streamed.
 * @param body not validated: its type is only what it should be
 * @throws ModelError `bad_response` when it is not a chat completion
 */
export function readCompletion(body: unknown, { model, family, maker }: Served): CreateResult {
  const completion = body as ChatCompletion | string | null | undefined;
  if (completion === null || completion === undefined || completion === "")
    throw new ModelError("bad_response", "The model server's answer is empty");
  if (typeof completion === "string")
    throw new ModelError("bad_response", "The model server did not answer with JSON");
  const choice = completion.choices?.[0];
  const message = choice?.message;
  if (choice === undefined || message === undefined || message === null)
    throw new ModelError("bad_response", "The model server's answer has no choices");
  const given = new GivenParts(false);
  given.add(message);
  const toolCalls = (message.tool_calls ?? []).flatMap((call) => {
    if (call.type === "custom") return [];
    // Servers may leave out what the type promises.
    const { name = "", arguments: args } = (call.function ?? {}) as Partial<typeof call.function>;
    const id = call.id || newCallId();
    given.addCall(id, (call as GivenMessage).extra_content);
    return [{ id, name, arguments: argumentsOf(args) }];
  });
  return toResult(
    {
      ...shownTexts(message),
      toolCalls,
      finishReason: choice.finish_reason,
      usage: usageOf(completion.usage, maker),
      logprobs: logprobsOf(choice.logprobs?.content),
      troupe: keepFields(given.fields, toolCalls.length > 0, maker, model),
    },
    family,
  );
}

/** Some servers send an object instead of its JSON. */
export function argumentsOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? {});
}
