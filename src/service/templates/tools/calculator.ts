import * as z from "zod";
import { FunctionTool } from "../../../core/tools/function/function-tool.ts";
import { evaluate } from "./expression.ts";

/** Evaluates arithmetic, at which models are unreliable. */
export const calculator = new FunctionTool({
  name: "calculator",
  description:
    "Evaluates an arithmetic expression with + - * / % ^, parentheses, pi, e, and sqrt, abs, round, floor, ceil, ln, log10, exp, sin, cos, tan, min, max.",
  parameters: z.object({
    expression: z.string().max(1000).describe("For example (3 + 4) * sqrt(2) ^ 2."),
  }),
  execute: ({ expression }) => evaluate(expression),
  policy: "retry",
});
