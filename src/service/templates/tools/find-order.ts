import * as z from "zod";
import { FunctionTool } from "../../../core/tools/function/function-tool.ts";

/** Stands for a shop's database: every order is a lamp that was delivered four days ago. */
export const findOrder = new FunctionTool({
  name: "find_order",
  description: "Finds an order by its number. Part of a demonstration: every order is the same.",
  parameters: z.object({ order: z.string().max(40).describe("Its number, such as A7.") }),
  execute: ({ order }) =>
    JSON.stringify({
      order,
      item: "desk lamp",
      price: 49.9,
      currency: "EUR",
      delivered: "4 days ago",
    }),
  policy: "retry",
});
