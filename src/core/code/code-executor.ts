import type { Component } from "../component/component.ts";
import type { StepAttempt } from "../run/turn-context.ts";
import type { CodeBlock, CodeResult } from "./code-block.ts";

/**
 * Runs code somewhere it can do no harm (AutoGen `CodeExecutor`). Whoever calls it makes the step; after a restart or a
 * failure with `retryable: true` it is asked again under the same `idempotencyKey`, and should then answer with the
 * result it has instead of running the code twice.
 */
export interface CodeExecutor extends Component {
  /**
   * Runs blocks in their order, up to the first that fails. Yields output as it comes, where it can; who does not care
   * ignores that, because the result has all of it.
   *
   * @returns the output of all of them, and the exit code of the last that ran: code that fails is a result
   * @throws when the blocks could not be run
   */
  executeCodeBlocks(
    blocks: readonly CodeBlock[],
    attempt: StepAttempt,
  ): AsyncGenerator<string, CodeResult, void>;
  close(): Promise<void>;
}
