import { isJsonObject } from "../json.ts";

/** Tokens of one request, or a sum of several. */
export type RequestUsage = { prompt_tokens: number; completion_tokens: number };

/** Details of the tokens. Each is a part of the tokens of a {@link RequestUsage}; a detail of 0 is left out. */
export interface UsageDetails {
  /** Prompt tokens that the server read from its cache. */
  cached_tokens?: number;
  /** Prompt tokens that the server wrote to its cache. */
  cache_write_tokens?: number;
  /** Completion tokens of the model's reasoning. */
  reasoning_tokens?: number;
  /** Tokens that are estimated, because the call was cut off or its server reports no usage. */
  estimated_tokens?: number;
}

export type TokenUsage = RequestUsage & UsageDetails;

/** Usage by the name of the model. */
export type UsageByModel = { readonly [model: string]: TokenUsage };

const DETAILS = [
  "cached_tokens",
  "cache_write_tokens",
  "reasoning_tokens",
  "estimated_tokens",
] as const satisfies readonly (keyof UsageDetails)[];

/** True if a recorded value has counts of tokens. */
export function isRequestUsage(value: unknown): value is RequestUsage {
  return isJsonObject(value) && isCount(value.prompt_tokens) && isCount(value.completion_tokens);
}

/** Sum of two usages. */
export function addUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
  return combined(a, b, (left, right) => left + right);
}

/** The difference `a - b`. */
export function subtractUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
  return combined(a, b, (left, right) => left - right);
}

/** The details in a value that may have other fields too. Values that are not counts, and zeros, are left out. */
export function usageDetails(value: {
  readonly [Name in keyof UsageDetails]: unknown;
}): UsageDetails {
  const details: UsageDetails = {};
  for (const name of DETAILS) {
    const count = value[name];
    if (isCount(count) && count !== 0) details[name] = count;
  }
  return details;
}

function combined(
  a: TokenUsage,
  b: TokenUsage,
  combine: (left: number, right: number) => number,
): TokenUsage {
  const usage: TokenUsage = {
    prompt_tokens: combine(a.prompt_tokens, b.prompt_tokens),
    completion_tokens: combine(a.completion_tokens, b.completion_tokens),
  };
  for (const name of DETAILS) {
    const count = combine(a[name] ?? 0, b[name] ?? 0);
    if (count !== 0) usage[name] = count;
  }
  return usage;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
