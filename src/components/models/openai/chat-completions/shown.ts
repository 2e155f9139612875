import type { AnsweringModel } from "../../chat/reply.ts";
import { type TokenUsage, usageDetails } from "../../../../core/models/request-usage.ts";
import type { Maker } from "./maker.ts";
import type { Delta, ChatUsage } from "./chunk.ts";
import { textsOf } from "./provider-data-collector.ts";

/** A model and the operator of its server. */
export interface Served extends AnsweringModel {
  maker: Maker;
}

/** The shown text of a message or a part of one, and its reasoning, which servers put in several places. */
export function shownTexts({ content, refusal, reasoning_content, reasoning }: Delta): {
  text: string;
  reasoning: string | null;
} {
  const { text, thinking } = textsOf(content);
  return {
    text: text || refusal,
    reasoning: reasoning_content ?? reasoning ?? thinking,
  };
}

/** Some servers omit the usage or parts of it. */
export function usageOf(usage: ChatUsage | undefined, maker: Maker): TokenUsage {
  const thinking = thinkingApart(usage, maker);
  return {
    prompt_tokens: usage?.prompt ?? 0,
    completion_tokens: (usage?.completion ?? 0) + thinking,
    ...usageDetails({
      cached_tokens: usage?.cached,
      cache_write_tokens: usage?.cacheWritten,
      reasoning_tokens: usage?.reasoning ?? thinking,
    }),
  };
}

/**
 * The tokens of thinking that a server counts in the total alone, though they cost as much as completion tokens. xAI says how
 * many they are (https://docs.x.ai/docs/key-information/consumption-and-rate-limits), Google does not.
 */
function thinkingApart(usage: ChatUsage | undefined, { name }: Maker): number {
  const { prompt = 0, completion = 0, total = 0, reasoning } = usage ?? {};
  const rest = total - prompt - completion;
  const isThinking = name === "google" || reasoning === rest;
  return isThinking ? Math.max(0, rest) : 0;
}
