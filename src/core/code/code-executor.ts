import type { Component } from "../component/component.ts";
import type { RetryPolicy } from "../steps/retry.ts";
import type { StepAttempt } from "../steps/step-attempt.ts";
import type { CodeBlock, CodeResult } from "./code-block.ts";

/**
 * Runs code in isolation (AutoGen `CodeExecutor`). The caller makes the step; after a restart or a failure with
 * `retryable: true` it calls again with the same `idempotencyKey`, and the executor should then return the result it
 * has instead of running the code twice. When no attempt is left, the failure becomes the result, so that the team
 * continues.
 */
export interface CodeExecutor extends Component {
  /**
   * The time for which the caller calls again after such a failure. Default: two minutes while the executor's server is
   * away.
   */
  readonly retry?: RetryPolicy | undefined;
  /**
   * Runs blocks in order, up to the first that fails. Yields output as it arrives, if possible. A caller may ignore the
   * yielded output, because the result contains all of it.
   *
   * @returns the output of all blocks, and the exit code of the last one that ran: code that fails is a result
   * @throws when the blocks could not be run
   */
  executeCodeBlocks(
    blocks: readonly CodeBlock[],
    attempt: StepAttempt,
  ): AsyncGenerator<string, CodeResult, void>;
  close(): Promise<void>;
}
