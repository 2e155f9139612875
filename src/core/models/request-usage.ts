import { isJsonObject } from "../json.ts";

/** Tokens of one request, or a sum of several. */
export type RequestUsage = { prompt_tokens: number; completion_tokens: number };

/** Whether a recorded value has counts of tokens. */
export function isRequestUsage(value: unknown): value is RequestUsage {
  return isJsonObject(value) && isCount(value.prompt_tokens) && isCount(value.completion_tokens);
}

/** Sum of two usages. */
export function addUsage(a: RequestUsage, b: RequestUsage): RequestUsage {
  return {
    prompt_tokens: a.prompt_tokens + b.prompt_tokens,
    completion_tokens: a.completion_tokens + b.completion_tokens,
  };
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
