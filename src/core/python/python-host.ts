import type { CodeBlock, CodeResult } from "../code/code-block.ts";
import type { CodeExecutor } from "../code/code-executor.ts";
import type { StepAttempt } from "../run/turn-context.ts";

/** Where the Python in component JSON runs. */
export interface PythonHost {
  /** For calls: in the session of the step, where it has one. */
  executor(): CodeExecutor;
  /**
   * For finding something out: in a session of its own, which `close` removes.
   * @param timeout seconds that a block may take
   */
  scratch(timeout: number): CodeExecutor;
}

/** Runs one block to its end. What it prints on the way is nobody's. */
export async function runBlock(
  executor: CodeExecutor,
  block: CodeBlock,
  attempt: StepAttempt,
): Promise<CodeResult> {
  const running = executor.executeCodeBlocks([block], attempt);
  for (;;) {
    const { done, value } = await running.next();
    if (done) return value;
  }
}
