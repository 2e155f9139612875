import type { CodeBlock } from "../../code/code-block.ts";
import { hash64 } from "../../ids.ts";
import { askHuman } from "../../run/human-approval.ts";
import type { TurnContext } from "../../run/turn-context.ts";
import { type ApprovalResponse, approvalResponseSchema } from "./approval-function.ts";
import type { ExecutorSettings } from "./settings.ts";

/** Requests approval from the function or human, if one is configured. @param key of the function's step */
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
