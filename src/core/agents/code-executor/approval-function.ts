import * as z from "zod";
import type { LLMMessage } from "../../models/llm-messages.ts";

/** Code to be approved (AutoGen `ApprovalRequest`). */
export interface ApprovalRequest {
  /** All blocks as Markdown. */
  code: string;
  /** The model's context at this point; empty for an agent without a model. */
  context: LLMMessage[];
}

/** The decision about code (AutoGen `ApprovalResponse`). The reason is shown if it may not run. */
export interface ApprovalResponse {
  approved: boolean;
  reason: string;
}

export const approvalResponseSchema: z.ZodType<ApprovalResponse> = z.object({
  approved: z.boolean(),
  reason: z.string().default(""),
});

/** Decides before code is run. It may be slow or ask others; its answer is recorded. An exception fails the run. */
export type ApprovalFunction = (
  request: ApprovalRequest,
  signal: AbortSignal,
) => ApprovalResponse | Promise<ApprovalResponse>;
