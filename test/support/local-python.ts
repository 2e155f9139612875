import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CodeBlock, CodeResult } from "../../src/core/code/code-block.ts";
import type { CodeExecutor } from "../../src/core/code/code-executor.ts";
import type { PythonHost } from "../../src/core/python/python-host.ts";
import type { StepAttempt } from "../../src/core/run/turn-context.ts";

/** The Python of this machine in the place of a sandbox: for tests of what Python does, whose code is theirs. */
export class LocalPython implements PythonHost {
  /** What was run, in its order. */
  readonly ran: { blocks: readonly CodeBlock[]; attempt: StepAttempt; timeout: number }[] = [];
  /** Of the executors made, those that were not closed. */
  open = 0;

  executor({ timeout = 20 }: { timeout?: number } = {}): CodeExecutor {
    this.open++;
    return {
      definition: {
        provider: "test.LocalPython",
        componentType: "code_executor",
        role: "code_executor",
        version: 1,
      },
      executeCodeBlocks: (blocks, attempt) => {
        this.ran.push({ blocks, attempt, timeout });
        return run(blocks, timeout);
      },
      close: () => {
        this.open--;
        return Promise.resolve();
      },
      toConfig: () => ({}),
    };
  }
}

async function* run(
  blocks: readonly CodeBlock[],
  timeout: number,
): AsyncGenerator<string, CodeResult, void> {
  const directory = await mkdtemp(join(tmpdir(), "python-"));
  try {
    let all = "";
    for (const { code } of blocks) {
      await writeFile(join(directory, "block.py"), code);
      const { exit_code, output } = await python(directory, timeout);
      yield output;
      all += output;
      if (exit_code !== 0) return { exit_code, output: all };
    }
    return { exit_code: 0, output: all };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function python(directory: string, timeout: number): Promise<CodeResult> {
  const options = { cwd: directory, timeout: timeout * 1000, maxBuffer: 16_000_000 };
  return new Promise((resolve) => {
    // Isolated: what is installed on this machine is not there in a sandbox.
    const child = execFile("python3", ["-I", "-S", "block.py"], options, (error, out, err) => {
      const exit = child.killed ? 124 : Number(error?.code ?? 0);
      resolve({ exit_code: exit, output: out + err });
    });
    child.stdin?.end();
  });
}
