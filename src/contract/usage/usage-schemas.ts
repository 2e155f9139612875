import * as z from "zod";
import { requestUsageSchema } from "../../core/models/llm-messages.ts";

const count = z.number().int().nonnegative();

/** Tokens, with the details that model providers report. A detail of 0 is left out. */
export const tokenUsageSchema = requestUsageSchema.extend({
  cached_tokens: count
    .describe("Tokens of the prompt that were read from the model server's cache.")
    .optional(),
  cache_write_tokens: count
    .describe("Tokens of the prompt that were written to the model server's cache.")
    .optional(),
  reasoning_tokens: count
    .describe("Tokens of the completion that are the model's reasoning.")
    .optional(),
  estimated_tokens: count
    .describe(
      "Tokens of both that are estimated from the length of the texts, because a call was cut off or its server reports no usage.",
    )
    .optional(),
});

const modelUsageSchema = tokenUsageSchema.extend({
  cost: z
    .number()
    .nonnegative()
    .nullable()
    .describe("In the currency of MODEL_PRICES; null if the model has no price."),
});

export const costSchema = z
  .number()
  .nonnegative()
  .nullable()
  .describe(
    "In the currency of MODEL_PRICES, of the model calls whose price is known; null if none is known.",
  );

/** Tokens and cost by the model's name. */
export const usageByModelSchema = z.record(z.string(), modelUsageSchema);
export type UsageByModel = Readonly<z.infer<typeof usageByModelSchema>>;
