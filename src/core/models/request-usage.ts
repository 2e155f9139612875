import * as z from "zod";
import { lazy } from "../lazy.ts";

export const requestUsage = lazy(() =>
  z.object({
    prompt_tokens: z.number().int().nonnegative(),
    completion_tokens: z.number().int().nonnegative(),
  }),
);

/** Tokens of one request, or a sum of several. */
export type RequestUsage = { prompt_tokens: number; completion_tokens: number };

/** Sum of two usages. */
export function addUsage(a: RequestUsage, b: RequestUsage): RequestUsage {
  return {
    prompt_tokens: a.prompt_tokens + b.prompt_tokens,
    completion_tokens: a.completion_tokens + b.completion_tokens,
  };
}
