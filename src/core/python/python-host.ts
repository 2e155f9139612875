import type { CodeBlock, CodeResult } from "../code/code-block.ts";
import type { Note } from "../component/component.ts";
import type { CodeExecutor } from "../code/code-executor.ts";
import type { StepAttempt } from "../steps/step-attempt.ts";

/** Runs the Python in component JSON. */
export interface PythonHost {
  /**
   * For calls: runs in the step's session, if it has one.
   *
   * @param env environment variables, with references to secrets as the config has them
   * @throws ValueError for a variable that code may not have
   */
  executor(env?: { readonly [name: string]: string }): CodeExecutor;
  /** Remarks on secrets of an environment that code would not get. */
  environmentNotes?(env: { readonly [name: string]: string }): Note[];
  /**
   * For inspection: runs in a scratch session, which `close` removes.
   * @param timeout seconds per block
   */
  scratch(timeout: number): CodeExecutor;
}

/** Runs one block to its end and discards its streamed output. */
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
