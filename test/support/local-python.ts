import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { CodeBlock, CodeExecutor, CodeResult, PythonHost, StepAttempt } from "troupe";

/** Runs each block in a fork of its own, which takes milliseconds. */
const FORKS = `
import json, os, shutil, signal, sys, tempfile, traceback

def run(code, timeout):
    signal.alarm(timeout)
    try:
        exec(compile(code, "block.py", "exec"), {"__name__": "__main__"})
        status = 0
    except SystemExit as error:
        status = error.code
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    os._exit(status)

for line in sys.stdin:
    directory = tempfile.mkdtemp()
    os.chdir(directory)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(writing, 1)
        os.dup2(writing, 2)
        run(**json.loads(line))
    os.close(writing)
    with open(reading, "rb") as pipe:
        output = pipe.read().decode("utf-8", "replace")
    status = os.waitpid(child, 0)[1]
    shutil.rmtree(directory)
    exit_code = 124 if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    print(json.dumps({"exit_code": exit_code, "output": output}), flush=True)
`;

/**
 * The Python of this machine in the place of a sandbox: for tests of what Python does, whose code is theirs. Without what is
 * installed there, which a sandbox does not have.
 */
export class LocalPython implements PythonHost {
  /** What was run, in its order. */
  readonly ran: { blocks: readonly CodeBlock[]; attempt: StepAttempt; timeout: number }[] = [];
  /** Of the executors made, those that were not closed. */
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

const waiting: ((result: CodeResult) => void)[] = [];
let forks: ChildProcessWithoutNullStreams | undefined;

function python(code: string, timeout: number): Promise<CodeResult> {
  forks ??= startForks();
  forks.stdin.write(`${JSON.stringify({ code, timeout })}\n`);
  return new Promise((resolve) => waiting.push(resolve));
}

/** It ends when this process does, because its standard input does. */
function startForks(): ChildProcessWithoutNullStreams {
  const child = spawn("python3", ["-I", "-S", "-c", FORKS]);
  child.stderr.pipe(process.stderr);
  createInterface(child.stdout).on("line", (line) => {
    waiting.shift()?.(JSON.parse(line) as CodeResult);
  });
  return child;
}
