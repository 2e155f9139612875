import type { CodeBlock, CodeExecutor, CodeResult, ComponentDefinition, StepAttempt } from "troupe";
import * as z from "zod";

export type Execute = (
  blocks: readonly CodeBlock[],
  attempt: StepAttempt,
) => CodeResult | Promise<CodeResult>;

/** Runs no code: answers as a test says and remembers what it was to run. */
export class TestCodeExecutor implements CodeExecutor {
  static readonly component: ComponentDefinition<Record<string, never>, TestCodeExecutor> = {
    provider: "test.TestCodeExecutor",
    componentType: "code_executor",
    role: "code_executor",
    version: 1,
    configSchema: z.object({}),
    fromConfig: () => new TestCodeExecutor(),
  };
  readonly definition = TestCodeExecutor.component;
  readonly ran: CodeBlock[][] = [];
  readonly keys: string[] = [];
  closed = false;
  readonly #execute: Execute;

  constructor(execute: Execute = ok) {
    this.#execute = execute;
  }

  async *executeCodeBlocks(
    blocks: readonly CodeBlock[],
    attempt: StepAttempt,
  ): AsyncGenerator<string, CodeResult, void> {
    this.ran.push([...blocks]);
    this.keys.push(attempt.idempotencyKey);
    const result = await this.#execute(blocks, attempt);
    yield* result.output.split(/(?<=\n)/);
    return result;
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }

  toConfig() {
    return {};
  }
}

/** What was to run is what was printed. */
const ok: Execute = (blocks) => ({
  exit_code: 0,
  output: blocks.map(({ code }) => code).join(""),
});

/** Code that fails until it says "good". */
export const failsUntilGood: Execute = ([block]) =>
  block?.code.includes("good")
    ? { exit_code: 0, output: "fine" }
    : { exit_code: 2, output: "broken" };
