import { type Issue, stackOf, TroupeError } from "../../../core/errors.ts";
import type { LogEntry } from "../../../core/log.ts";
import { isPassing } from "../../../core/steps/passing-error.ts";
import { problemDocument, problemDocumentResponse } from "../../../http/problem-document.ts";
import type { Problem } from "../../../contract/problem.ts";
import type { Result } from "../../../contract/result.ts";
import { refuseStored } from "../../../contract/stored-data.ts";

/** Thrown by routes and checks; becomes the problem document of the response. */
export class ProblemError extends Error {
  readonly problem: Problem;
  readonly headers: Readonly<Record<string, string>>;

  constructor(problem: Problem, headers: Readonly<Record<string, string>> = {}) {
    super(problem.detail);
    this.name = "ProblemError";
    this.problem = problem;
    this.headers = headers;
  }
}

/** A 422: the request is understood and invalid. */
export function invalid(code: string, detail: string, errors: readonly Issue[] = []): ProblemError {
  return new ProblemError({ status: 422, code, detail, errors: [...errors] });
}

export function problemResponse(
  problem: Problem,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const { status, retry_after, repeatable, extra } = problem;
  const document = problemDocument({ ...problem, errors: errorsOf(problem) }, extra);
  return problemDocumentResponse(document, status, {
    ...(retry_after !== undefined && { "retry-after": String(Math.ceil(retry_after)) }),
    ...(repeatable === false && { "x-should-retry": "false" }),
    ...(status === 429 && rateHeaders(problem)),
    ...headers,
  });
}

/** The headers for a limit that was reached: the RateLimit fields of the IETF's draft (httpapi-ratelimit-headers). */
function rateHeaders({ extra, retry_after }: Problem): Record<string, string> {
  const { limit, value, window } = extra ?? {};
  if (typeof limit !== "string" || typeof value !== "number") return {};
  const over = typeof window === "number" ? `;w=${window}` : "";
  return {
    "ratelimit-policy": `"${limit}";q=${value}${over}`,
    ratelimit: `"${limit}";r=0${retry_after === undefined ? "" : `;t=${retry_after}`}`,
  };
}

/** A 422 always names a place: the body, where the whole of it is wrong. */
function errorsOf({ status, detail, errors = [] }: Problem): readonly Issue[] {
  if (status !== 422) return errors;
  if (errors.length === 0) return [{ path: "body", message: detail }];
  return errors.map(({ path, message }) => ({ path: path === "" ? "body" : path, message }));
}

/** The value of a gateway's result. @throws ProblemError with its refusal */
export function unwrap<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new ProblemError(result.problem);
}

/** The problem that a thrown error is to the client; undefined for an internal error. */
export function problemOf(error: unknown): ProblemError | undefined {
  if (error instanceof ProblemError) return error;
  if (error instanceof TroupeError && error.code === "sandbox_unavailable") {
    return new ProblemError({ status: 502, code: error.code, detail: error.message });
  }
  if (error instanceof TroupeError && error.code !== "internal") {
    return invalid(error.code, error.message, error.issues);
  }
  const stored = refuseStored(error);
  if (stored) return new ProblemError(stored.problem);
  if (isPassing(error)) {
    return new ProblemError({
      status: 503,
      code: "temporarily_unavailable",
      detail:
        "A part of the service cannot be reached at the moment. The request may have been carried out or not: send it again, with the same Idempotency-Key if it has one.",
      retry_after: 1,
    });
  }
  return undefined;
}

/** An internal error: logged in full by the caller, answered without details. */
export const INTERNAL_PROBLEM: Problem = {
  status: 500,
  code: "internal_error",
  detail: "An internal error occurred. The log of the server has the details.",
};

/** The log's line about an unexpected error. */
export function internalErrorLine(error: unknown): string {
  const entry: LogEntry = { event: "internal_error", error: stackOf(error) };
  return JSON.stringify(entry);
}
