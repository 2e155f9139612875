import type { Problem } from "../../contract/problem.ts";
import type { RunInfo } from "../../contract/run.ts";
import { problemResponse } from "../../http/problem.ts";

/** OpenAI's error object. `code` is the problem's. */
export interface OpenAIError {
  message: string;
  type: "invalid_request_error" | "rate_limit_error" | "server_error";
  /** The first place of the request that is wrong. */
  param: string | null;
  code: string;
}

/** What was streamed is not the run's answer. */
export function answerChanged({ id, team_id }: Pick<RunInfo, "id" | "team_id">): Problem {
  return {
    status: 400,
    code: "answer_changed",
    detail: `The text that was streamed of the run ${id} is not its answer: a call of the model broke off and was made again. The log of the team ${team_id} has the answer.`,
  };
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
