import { problemDocument } from "../src/http/problem-document.ts";

/** An error in one part of a request. */
export interface Issue {
  path: string;
  message: string;
}

interface ProblemOptions {
  errors?: readonly Issue[];
  headers?: Readonly<Record<string, string>>;
}

/** An error that is returned as a problem document (RFC 9457) with a stable code. */
export class ProblemError extends Error {
  readonly status: number;
  readonly code: string;
  readonly errors: readonly Issue[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, detail: string, options: ProblemOptions = {}) {
    super(detail);
    this.name = "ProblemError";
    this.status = status;
    this.code = code;
    this.errors = options.errors ?? [];
    this.headers = options.headers ?? {};
  }

  /** The problem document. */
  toJSON(): Record<string, unknown> {
    const { status, code, message: detail, errors } = this;
    return problemDocument({ status, code, detail, errors });
  }
}

/** An invalid request: 422. */
export function invalid(code: string, detail: string, errors: readonly Issue[] = []): ProblemError {
  return new ProblemError(422, code, detail, { errors });
}

/** Too many requests or sessions: 429, with the time to wait. */
export function busy(code: string, detail: string, seconds: number): ProblemError {
  return new ProblemError(429, code, detail, { headers: { "retry-after": String(seconds) } });
}

export function shuttingDown(): ProblemError {
  return new ProblemError(503, "shutting_down", "The sandbox is shutting down.", {
    headers: { "retry-after": "1" },
  });
}
