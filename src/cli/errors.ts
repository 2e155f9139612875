/** What the exit codes say. docs/cli.md lists them. */
export const EXIT = {
  done: 0,
  /** The server refused the request, or something else went wrong. */
  error: 1,
  /** The arguments are wrong. */
  usage: 2,
  /** The run failed. */
  failed: 3,
  /** The run was cancelled. */
  cancelled: 4,
  /** The run waits for a human, and there is no terminal to ask at. */
  waiting: 5,
  /** The server cannot be reached. */
  unreachable: 6,
  /** Ctrl-C: the run goes on. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What the user is told: one sentence with what to do, without a stack. */
export class CliError extends Error {
  readonly exitCode: ExitCode;
  /** For programs, which read it with --json. */
  readonly code: string;
  /** What is wrong in a file or in arguments, by its place. */
  readonly issues: readonly Issue[];

  constructor(
    message: string,
    {
      exitCode = EXIT.error,
      code = "error",
      issues = [],
    }: { exitCode?: ExitCode; code?: string; issues?: readonly Issue[] } = {},
  ) {
    super(message);
    this.name = "CliError";
    this.exitCode = exitCode;
    this.code = code;
    this.issues = issues;
  }
}

export interface Issue {
  path: string;
  message: string;
}
