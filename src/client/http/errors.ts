import type { Problem, RunInfo } from "./wire.ts";

/** A request that the server refused. Branch on `code`, which is stable; messages may be reworded. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** The problem document, with more members for some codes, such as `run_id` for `team_busy`. */
  readonly problem: Problem & { readonly [member: string]: unknown };
  /** Milliseconds after which the request may be repeated, where the server says so. */
  readonly retryAfter: number | undefined;
  /** False if waiting does not help, for example at a limit of teams or keys. */
  readonly repeatable: boolean;

  constructor(problem: ApiError["problem"], retryAfter?: number, repeatable = true) {
    const places = problem.errors?.map(({ path, message }) => `${path} ${message}`) ?? [];
    super([problem.detail, ...places].join("\n"));
    this.name = "ApiError";
    this.status = problem.status;
    this.code = problem.code;
    this.problem = problem;
    this.retryAfter = retryAfter;
    this.repeatable = repeatable;
  }
}

/** A run that failed or was cancelled. */
export class RunError extends Error {
  /** The type of the run's error, for example `token_limit`; `cancelled` for a cancelled run. */
  readonly code: string;
  readonly run: RunInfo;

  constructor(run: RunInfo) {
    super(run.error?.message ?? `The run was ${run.status}.`);
    this.name = "RunError";
    this.code = run.error?.type ?? run.status;
    this.run = run;
  }
}

/** The server could not be reached, or the response did not come from Troupe. */
export class ConnectionError extends Error {
  readonly code = "connection_failed";

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "ConnectionError";
  }
}
