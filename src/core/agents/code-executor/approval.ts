import * as z from "zod";
import type { CodeBlock } from "../../code/code-block.ts";
import { hash64 } from "../../ids.ts";
import type { LLMMessage } from "../../models/llm-messages.ts";
import { askHuman } from "../../run/human-approval.ts";
import type { TurnContext } from "../../run/turn-context.ts";
import type { ExecutorSettings } from "./settings.ts";

/** Code that wants to be run (AutoGen `ApprovalRequest`). */
export interface ApprovalRequest {
  /** All blocks as Markdown. */
  code: string;
  /** What the model knows at this point; empty for an agent without a model. */
  context: LLMMessage[];
}

const approvalResponseSchema = z.object({ approved: z.boolean(), reason: z.string().default("") });

/** Whether it may run (AutoGen `ApprovalResponse`). The reason is told where it may not. */
export type ApprovalResponse = z.output<typeof approvalResponseSchema>;

/**
 * Decides before code is run. It may ask others and take its time; what it said is recorded. What it throws ends the run.
 */
export type ApprovalFunction = (
  request: ApprovalRequest,
  signal: AbortSignal,
) => ApprovalResponse | Promise<ApprovalResponse>;

/** Asks whoever has to approve, if there is anybody. @param key of the step in which a function is asked */
export async function askApproval(
  { name, approve, humanApproval, modelContext }: ExecutorSettings,
  blocks: readonly CodeBlock[],
  key: string,
  ctx: TurnContext,
): Promise<ApprovalResponse> {
  const code = blocks
    .map(({ language, code: text }) => `\`\`\`${language}\n${text}\n\`\`\``)
    .join("\n\n");
  if (humanApproval !== null) {
    const question = { source: name, prompt: `"${name}" wants to run this code.`, code };
    return askHuman(humanApproval, question, ctx);
  }
  if (approve === null) return { approved: true, reason: "" };
  const request = { code, context: await modelContext.getMessages() };
  return ctx.step(
    key,
    async ({ signal }) => approvalResponseSchema.parse(await approve(request, signal)),
    { fingerprint: hash64(JSON.stringify(request)) },
  );
}
