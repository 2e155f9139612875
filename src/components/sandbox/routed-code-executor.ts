import type { CodeBlock, CodeResult } from "../../core/code/code-block.ts";
import type { CodeExecutor } from "../../core/code/code-executor.ts";
import { isJavaScript } from "../../core/code/javascript-host.ts";
import type { JsonObject } from "../../core/json.ts";
import type { RetryPolicy } from "../../core/steps/retry.ts";
import type { StepAttempt } from "../../core/steps/step-attempt.ts";

interface Routes {
  /** Runs blocks of JavaScript. */
  javascript: CodeExecutor["executeCodeBlocks"];
  /** Runs all other blocks; undefined without a sandbox. */
  sandbox: CodeExecutor | undefined;
  definition: CodeExecutor["definition"];
  config: JsonObject;
}

/** Runs JavaScript in dynamic Workers and everything else in the sandbox, block by block. */
export class RoutedCodeExecutor implements CodeExecutor {
  readonly definition: CodeExecutor["definition"];
  readonly retry: RetryPolicy | undefined;
  readonly #routes: Routes;

  constructor(routes: Routes) {
    this.definition = routes.definition;
    this.retry = routes.sandbox?.retry;
    this.#routes = routes;
  }

  async *executeCodeBlocks(
    blocks: readonly CodeBlock[],
    attempt: StepAttempt,
  ): AsyncGenerator<string, CodeResult, void> {
    let whole: CodeResult = { exit_code: 0, output: "" };
    for (const [index, group] of groupsOf(blocks).entries()) {
      const idempotencyKey = `${attempt.idempotencyKey}:${index}`;
      const result = yield* this.#execute(group, { ...attempt, idempotencyKey });
      whole = joined(whole, result);
      if (whole.exit_code !== 0) break;
    }
    return whole;
  }

  async close(): Promise<void> {
    await this.#routes.sandbox?.close();
  }

  toConfig(): JsonObject {
    return this.#routes.config;
  }

  async *#execute(
    blocks: readonly CodeBlock[],
    attempt: StepAttempt,
  ): AsyncGenerator<string, CodeResult, void> {
    const { javascript, sandbox } = this.#routes;
    const [{ language } = { language: "" }] = blocks;
    if (isJavaScript(language)) return yield* javascript(blocks, attempt);
    if (sandbox !== undefined) return yield* sandbox.executeCodeBlocks(blocks, attempt);
    return {
      exit_code: 1,
      output: `The code was not run: this server runs JavaScript only, and the block is ${JSON.stringify(language)}. Other languages need a sandbox: the settings SANDBOX_URL and CODE.`,
    };
  }
}

/** Blocks that follow each other and run in the same place. */
function groupsOf(blocks: readonly CodeBlock[]): CodeBlock[][] {
  const groups: CodeBlock[][] = [];
  for (const block of blocks) {
    const last = groups.at(-1);
    const before = last?.[0];
    if (before !== undefined && isJavaScript(before.language) === isJavaScript(block.language)) {
      last?.push(block);
    } else groups.push([block]);
  }
  return groups;
}

function joined(before: CodeResult, after: CodeResult): CodeResult {
  const files = [...(before.files ?? []), ...(after.files ?? [])];
  const images = [...(before.images ?? []), ...(after.images ?? [])];
  return {
    ...after,
    output: before.output + after.output,
    ...(files.length > 0 && { files }),
    ...(images.length > 0 && { images }),
  };
}
