import type { Problem } from "../../contract/problem.ts";
import { problemResponse } from "../../http/problem.ts";

/** OpenAI's error object. `code` is the problem's. */
export interface OpenAIError {
  message: string;
  type: "invalid_request_error" | "rate_limit_error" | "server_error";
  /** The first place of the request that is wrong. */
  param: string | null;
  code: string;
}

export function errorOf({ status, code, detail, errors = [] }: Problem): OpenAIError {
  const places = errors.map(({ path, message }) => (path === "" ? message : `${path} ${message}`));
  return {
    message: [detail, ...places].join(" "),
    type:
      status === 429 ? "rate_limit_error" : status < 500 ? "invalid_request_error" : "server_error",
    param: errors[0]?.path || null,
    code,
  };
}

/** Writes a problem as OpenAI does: what is invalid has the status 400. */
export function errorResponse(
  problem: Problem,
  given: Readonly<Record<string, string>> = {},
): Response {
  const { status } = problem;
  const { headers } = problemResponse(problem, given);
  headers.set("content-type", "application/json");
  return new Response(JSON.stringify({ error: errorOf(problem) }), {
    status: status === 422 ? 400 : status,
    headers,
  });
}
