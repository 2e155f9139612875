/** The exit codes. docs/cli.md lists them. */
export const EXIT = {
  done: 0,
  /** The server refused the request, or something else went wrong. */
  error: 1,
  /** The arguments are invalid. */
  usage: 2,
  /** The run failed. */
  failed: 3,
  /** The run was cancelled. */
  cancelled: 4,
  /** The run waits for a human, and the terminal is not interactive. */
  waiting: 5,
  /** The server cannot be reached, or is not Troupe. */
  unreachable: 6,
  /** Ctrl-C; the run continues. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** An error for the user: what is wrong and what to do, without a stack. */
export class CliError extends Error {
  readonly exitCode: ExitCode;
  /** A stable code for programs, shown with --json. */
  readonly code: string;
  /** The mistakes in a file or in arguments, with their places. */
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
