import * as z from "zod";
import { requestUsageSchema } from "../../core/models/llm-messages.ts";

const modelUsageSchema = requestUsageSchema.extend({
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
