import { type CodeBlock, type CodeResult, codeResultSchema } from "../../code/code-block.ts";
import { hash64 } from "../../ids.ts";
import type { TurnContext } from "../../run/turn-context.ts";
import { askApproval } from "./approval.ts";
import { emptyOutput, errorOutput } from "./prompts.ts";
import type { ExecutorSettings } from "./settings.ts";

/**
 * Has code approved, runs it and puts into words what is missing in its output. What is not approved counts as failed.
 *
 * @param attempt how often code was run in this turn before: it makes the keys of the steps
 */
export async function runCode(
  settings: ExecutorSettings,
  blocks: readonly CodeBlock[],
  attempt: number,
  ctx: TurnContext,
): Promise<CodeResult> {
  const { approve, codeExecutor, modelContext, prompts } = settings;
  if (approve !== null) {
    const context = await modelContext.getMessages();
    const { approved, reason } = await askApproval(
      approve,
      blocks,
      context,
      `approval:${attempt}`,
      ctx,
    );
    if (!approved) {
      return { exit_code: 1, output: `Code execution was not approved. Reason: ${reason}` };
    }
  }
  const result = await ctx.step<CodeResult>(
    `code:${attempt}`,
    async (step) => codeResultSchema.parse(await codeExecutor.executeCodeBlocks(blocks, step)),
    { policy: "retry", fingerprint: hash64(JSON.stringify(blocks)) },
  );
  const { exit_code, output } = result;
  if (output.trim() === "") return { ...result, output: emptyOutput(prompts, exit_code) };
  if (exit_code === 0) return result;
  return { ...result, output: errorOutput(prompts, exit_code, output) };
}
