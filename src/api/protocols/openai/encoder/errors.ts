import type { Problem } from "../../../../contract/problem.ts";
import type { RunInfo } from "../../../../contract/run.ts";
import type { End } from "./answer-item.ts";
import { problemResponse } from "../../../http/endpoint/problem.ts";

/** OpenAI's error object. `code` is the problem's. */
export interface OpenAIError {
  message: string;
  type: "invalid_request_error" | "authentication_error" | "rate_limit_error" | "server_error";
  /** The first place of the request that is wrong. */
  param: string | null;
  code: string;
}

/** OpenAI's types for the errors of models that are not the server's. */
const MODEL_ERRORS: Readonly<Record<string, OpenAIError["type"]>> = {
  model_auth: "authentication_error",
  model_bad_request: "invalid_request_error",
  model_context_length: "invalid_request_error",
  model_rate_limit: "rate_limit_error",
};

/**
 * The error of a run that has no answer: its own error, or that it was cancelled or paused. Clients repeat requests by their status: any
 * but 400 would start another run, and 401 and 403 are about the caller's key.
 */
export function runError({ code, detail }: Pick<Problem, "code" | "detail">): OpenAIError {
  return { message: detail, type: MODEL_ERRORS[code] ?? "server_error", param: null, code };
}

/** The status of a run that has no answer. */
export const RUN_ERROR_STATUS = 400;

/** The error of a response whose streamed text is not the run's answer. */
export function answerChanged({
  id,
  team_id,
}: Pick<RunInfo, "id" | "team_id">): Pick<Problem, "code" | "detail"> {
  return {
    code: "answer_changed",
    detail: `The text that was streamed of the run ${id} is not its answer: a call of the model broke off and was made again. The log of the team ${team_id} has the answer.`,
  };
}

/** The reason why a run ended without an answer; undefined for one that has an answer. */
export function errorOfEnd(end: End, run: RunInfo): OpenAIError | undefined {
  switch (end.type) {
    case "changed":
      return runError(answerChanged(run));
    case "failed":
      return end.problem.code === "token_limit" ? undefined : runError(end.problem);
    case "cancelled":
      return runError({ code: "run_cancelled", detail: "The run was cancelled." });
    case "paused":
      return runError({
        code: "run_paused",
        detail: "The run was paused. It continues when it is resumed.",
      });
    case "unfinished":
      return runError({ code: "run_unfinished", detail: "The run is still active." });
    case "completed":
    case "waiting":
      return undefined;
  }
}

export function errorOf({ status, code, detail, errors = [] }: Problem): OpenAIError {
  const places = errors
    .map(({ path, message }) => (path === "" ? message : `${path} ${message}`))
    .filter((place) => !detail.includes(place));
  return {
    message: places.length === 0 ? detail : `${detail} ${places.join("; ")}`,
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
