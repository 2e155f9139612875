import type { CodeBlock, CodeExecutor, CodeResult, PythonHost, StepAttempt } from "troupe";
import type { Runner } from "../../sandbox/runner.ts";
import { LIMITS, startIsolation } from "../../sandbox/test/wasm/support.ts";

/**
 * Python in the place of a sandbox service, for tests of our own Python programs: the interpreter of the sandbox, in WebAssembly,
 * so that no Python has to be installed. Each block has an empty workspace.
 */
export class LocalPython implements PythonHost {
  /** The requests, in order. */
  readonly ran: { blocks: readonly CodeBlock[]; attempt: StepAttempt; timeout: number }[] = [];
  /** How many executors were made and not closed. */
  open = 0;

  executor(): CodeExecutor {
    return this.scratch(20);
  }

  scratch(timeout: number): CodeExecutor {
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
  let output = "";
  for (const { code } of blocks) {
    const result = await python(code, timeout);
    yield result.output;
    output += result.output;
    if (result.exit_code !== 0) return { exit_code: result.exit_code, output };
  }
  return { exit_code: 0, output };
}

// One interpreter for all tests of a worker. It ends with the worker, because the pipe to it closes.
let starting: Promise<Runner> | undefined;
let last: Promise<unknown> = Promise.resolve();

/** Runs one block after the other. */
function python(code: string, timeout: number): Promise<CodeResult> {
  const result = last.then(() => runAlone(code, timeout));
  last = result.catch(() => undefined);
  return result;
}

async function runAlone(code: string, timeout: number): Promise<CodeResult> {
  starting ??= startIsolation(0).then((isolation) => isolation.runner());
  const runner = await starting;
  const output: Uint8Array[] = [];
  const { exitCode, change } = await runner.run(
    { language: "python", code },
    {
      limits: { ...LIMITS, timeoutMs: timeout * 1000 },
      signal: new AbortController().signal,
      onOutput: (bytes) => output.push(bytes),
    },
  );
  if (runner.usable) await runner.update({ set: [], removed: change.set.map(({ path }) => path) });
  else starting = undefined;
  return { exit_code: exitCode, output: Buffer.concat(output).toString() };
}
