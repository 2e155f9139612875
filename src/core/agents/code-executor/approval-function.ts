import * as z from "zod";
import type { LLMMessage } from "../../models/llm-messages.ts";

/** Code that wants to be run (AutoGen `ApprovalRequest`). */
export interface ApprovalRequest {
  /** All blocks as Markdown. */
  code: string;
  /** What the model knows at this point; empty for an agent without a model. */
  context: LLMMessage[];
}

export const approvalResponseSchema = z.object({
  approved: z.boolean(),
  reason: z.string().default(""),
});

/** Whether it may run (AutoGen `ApprovalResponse`). The reason is told where it may not. */
export type ApprovalResponse = z.output<typeof approvalResponseSchema>;

/**
 * Decides before code is run. It may ask others and take its time; what it said is recorded. What it throws ends the run.
 */
export type ApprovalFunction = (
  request: ApprovalRequest,
  signal: AbortSignal,
) => ApprovalResponse | Promise<ApprovalResponse>;
