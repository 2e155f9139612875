import { Bash, type CommandContext, defineCommand, type ExecResult } from "just-bash/browser";
import type { BlockRequest } from "../frames.ts";
import { BlockEnd, type Watch } from "./imports.ts";
import type { Python } from "./python.ts";
import { pythonCommand } from "./python-command.ts";
import { FOLDERS, WORKSPACE } from "./scratch.ts";
import { ShellFiles } from "./shell-files.ts";
import { directOutput } from "./shell-output.ts";

/** Only time is limited, not the number of operations. */
const UNCOUNTED = 1e12;

/** Commands that just-bash has in other environments; its messages about them would mislead here. */
const MISSING = ["tar", "sqlite3", "yq", "xan", "curl", "js-exec"];

/** Runs shell scripts, over the files of Python and with its interpreter as the command `python3`. */
export class Shell {
  readonly #python: Python;

  constructor(python: Python) {
    this.#python = python;
  }

  async run(
    { code, env }: Pick<BlockRequest, "code" | "env">,
    print: (bytes: Uint8Array) => void,
    watch: Watch,
  ): Promise<BlockEnd> {
    const over = () => performance.now() >= watch.deadline;
    const show = (bytes: Uint8Array) => {
      if (!over()) print(bytes);
    };
    const files = new ShellFiles(this.#python.module.FS, show);
    const run = async (args: string[], context: CommandContext): Promise<ExecResult> => {
      const given = {
        cwd: context.cwd,
        // A string with one character for each byte.
        stdin: Buffer.from(context.stdin as unknown as string, "latin1"),
        environment: { ...context.exportedEnv, PWD: context.cwd },
      };
      return pythonCommand(this.#python, args, given, watch);
    };
    const bash = new Bash({
      fs: files,
      cwd: WORKSPACE,
      env: {
        HOME: WORKSPACE,
        PATH: "/usr/bin:/bin",
        LANG: "C.UTF-8",
        SANDBOX_FOLDERS: FOLDERS,
        ...env,
      },
      customCommands: [
        ...["python", "python3"].map((name) => defineCommand(name, run)),
        ...MISSING.map((name) => defineCommand(name, () => Promise.resolve(notFound(name)))),
      ],
      defenseInDepth: false,
      executionLimits: {
        maxExecutionTimeMs: Math.ceil(Math.max(1, watch.deadline - performance.now())),
        maxCommandCount: UNCOUNTED,
        maxLoopIterations: UNCOUNTED,
        // What takes too much memory is ended from outside.
        maxStringLength: UNCOUNTED,
        maxWorkUnits: UNCOUNTED,
        maxAwkIterations: UNCOUNTED,
        maxSedIterations: UNCOUNTED,
        maxJqIterations: UNCOUNTED,
      },
    });
    // Appends the output of each command to a file as soon as it has run, so that it is streamed.
    bash.registerTransformPlugin(directOutput());
    let exitCode = 1;
    try {
      const result = await bash.exec(code, { rawScript: true });
      show(Buffer.from(result.stdout + result.stderr));
      ({ exitCode } = result);
    } catch (error) {
      // A redirection to a path that cannot be written ends the script.
      const message = error instanceof Error ? error.message : String(error);
      show(Buffer.from(`bash: ${message}\n`));
    }
    if (over()) return new BlockEnd("timeout", 124);
    return new BlockEnd("exit", exitCode);
  }
}

function notFound(name: string): ExecResult {
  return { stdout: "", stderr: `bash: ${name}: command not found\n`, exitCode: 127 };
}
