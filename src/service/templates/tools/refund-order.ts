import * as z from "zod";
import { FunctionTool } from "../../../core/tools/function/function-tool.ts";

/** Stands for a payment that a team should not make alone. */
export const refundOrder = new FunctionTool({
  name: "refund_order",
  description: "Pays money back for an order. Part of a demonstration: nothing is paid.",
  parameters: z.object({
    order: z.string().max(40).describe("Its number, such as A7."),
    amount: z.number().positive().max(1000),
    currency: z.enum(["EUR", "USD", "GBP"]).default("EUR"),
    reason: z.string().max(500).describe("The reason that the customer reads."),
  }),
  execute: ({ order, amount, currency }) =>
    `${amount.toFixed(2)} ${currency} for order ${order} are on their way (a demonstration: nothing was paid)`,
  policy: "retry",
});
