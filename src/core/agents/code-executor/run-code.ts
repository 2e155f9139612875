import { type CodeBlock, type CodeResult, codeResultSchema } from "../../code/code-block.ts";
import type { CodeExecutor } from "../../code/code-executor.ts";
import { dumpComponent } from "../../component/component.ts";
import { errorMessage } from "../../errors.ts";
import { hash64 } from "../../hash.ts";
import type { ModelClientStreamingChunkEvent } from "../../messages/agent-events.ts";
import { asEvents, chunkEvents } from "../../messages/create.ts";
import type { TurnContext } from "../../turn/turn-context.ts";
import { emptyOutput, errorOutput } from "./prompts.ts";
import type { ExecutorSettings } from "./settings.ts";
import { askHuman } from "../../turn/human-approval.ts";
import { type ApprovalResponse, approvalResponseSchema } from "./approval-function.ts";

/** The name under which traces and decisions show the execution of code. */
const TOOL = "execute_code";

/**
 * Requests approval, runs the code and words empty output and errors. Code that is not approved counts as failed.
 * Yields the output as it arrives if the agent streams.
 *
 * @param run the number of earlier executions in this turn, for the keys of the steps; the id of the message that will
 * report the result
 */
export async function* runCode(
  settings: ExecutorSettings,
  blocks: readonly CodeBlock[],
  { attempt, id: messageId }: { attempt: number; id: string },
  ctx: TurnContext,
): AsyncGenerator<ModelClientStreamingChunkEvent, CodeResult, void> {
  const { codeExecutor, prompts } = settings;
  const { approved, reason } = await askApproval(settings, blocks, attempt, ctx);
  if (!approved) {
    return { exit_code: 1, output: `Code execution was not approved. Reason: ${reason}` };
  }
  const pieces = ctx.stream<string, CodeResult>(
    `code:${attempt}`,
    async function* (step) {
      const result = yield* codeExecutor.executeCodeBlocks(blocks, step);
      return codeResultSchema.parse(result);
    },
    {
      policy: "retry",
      remote: true,
      retry: () => codeExecutor.retry,
      exhausted: (error) => ({
        exit_code: 1,
        output: `The code has no result, and it is not known whether it ran: ${errorMessage(error)}`,
      }),
      subject: { name: TOOL },
      fingerprint: hash64(JSON.stringify(blocks)),
      messageId,
    },
  );
  const result = yield* settings.stream
    ? asEvents(pieces, chunkEvents(ctx, settings.name, messageId))
    : withoutPieces(pieces);
  const { exit_code, output } = result;
  if (output.trim() === "") return { ...result, output: emptyOutput(prompts, exit_code) };
  if (exit_code === 0) return result;
  return { ...result, output: errorOutput(prompts, exit_code, output) };
}

// oxlint-disable-next-line require-yield -- has the signature of the streaming variant
async function* withoutPieces<R>(pieces: AsyncGenerator<unknown, R, void>) {
  let next = await pieces.next();
  while (!next.done) next = await pieces.next();
  return next.value;
}

/** Requests approval from the function or human, if one is configured. */
async function askApproval(
  { name, approve, humanApproval, modelContext, codeExecutor }: ExecutorSettings,
  blocks: readonly CodeBlock[],
  attempt: number,
  ctx: TurnContext,
): Promise<ApprovalResponse> {
  const code = blocks
    .map(({ language, code: text }) => `\`\`\`${language}\n${text}\n\`\`\``)
    .join("\n\n");
  if (humanApproval !== null) {
    const question = { source: name, prompt: `"${name}" wants to run this code.`, code };
    const values = blocks.map(({ language, code: text }) => ({ code: text, language }));
    const [only] = values;
    return askHuman(humanApproval, question, ctx, {
      tool: TOOL,
      step: `code:${attempt}`,
      arguments: values.length === 1 && only ? only : { blocks: values },
      values,
      component: { approval: humanApproval, executor: dumped(codeExecutor) },
    });
  }
  if (approve === null) return { approved: true, reason: "" };
  const request = { code, context: await modelContext.getMessages() };
  return ctx.step(
    `approval:${attempt}`,
    async ({ signal }) => approvalResponseSchema.parse(await approve(request, signal)),
    { fingerprint: hash64(JSON.stringify(request)) },
  );
}

/** An executor that component JSON cannot have is known by its class. */
function dumped(executor: CodeExecutor): unknown {
  try {
    return dumpComponent(executor);
  } catch {
    return executor.definition.provider;
  }
}
