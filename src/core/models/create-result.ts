import * as z from "zod";
import { functionCallSchema, makerDataSchema, requestUsageSchema } from "./llm-messages.ts";

const topLogprobSchema = z.object({
  logprob: z.number(),
  bytes: z.array(z.int()).nullable().default(null),
});

const tokenLogprobSchema = z.object({
  token: z.string(),
  logprob: z.number(),
  top_logprobs: z.array(topLogprobSchema).nullable().default(null),
  bytes: z.array(z.int()).nullable().default(null),
});

/** A model's answer as JSON (AutoGen `CreateResult`). */
export const createResultSchema = z.object({
  finish_reason: z.enum(["stop", "length", "function_calls", "content_filter", "unknown"]),
  content: z.union([z.string(), z.array(functionCallSchema)]),
  usage: requestUsageSchema,
  usage_details: z
    .object({
      cached_tokens: z.int().nonnegative(),
      cache_write_tokens: z.int().nonnegative(),
      reasoning_tokens: z.int().nonnegative(),
      estimate: requestUsageSchema,
    })
    .partial()
    .optional(),
  model: z.string().optional(),
  cached: z.boolean(),
  logprobs: z.array(tokenLogprobSchema).nullable().optional(),
  thought: z.string().nullable().optional(),
  refusal: z.literal(true).optional(),
  note: z.string().optional(),
  troupe: makerDataSchema.optional(),
});
