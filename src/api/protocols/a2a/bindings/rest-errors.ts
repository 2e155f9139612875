import type { Problem } from "../../../../contract/problem.ts";
import { json } from "../../../http/endpoint/endpoint.ts";
import { problemOf, problemResponse } from "../../../http/endpoint/problem.ts";
import { A2AError, a2aErrorOf, errorInfoOf, problemInfo, problemText } from "../wire/errors.ts";

/** The media type of results and errors. */
export const REST_JSON = "application/json";

/** The HTTP status of each error that A2A names. */
const STATUSES: Readonly<Record<A2AError["reason"], number>> = {
  TASK_NOT_FOUND: 404,
  TASK_NOT_CANCELABLE: 409,
  PUSH_NOTIFICATION_NOT_SUPPORTED: 400,
  UNSUPPORTED_OPERATION: 400,
  CONTENT_TYPE_NOT_SUPPORTED: 415,
  VERSION_NOT_SUPPORTED: 400,
  INVALID_PARAMS: 400,
};

/** The names that Google's APIs give to HTTP statuses. */
const NAMES: Readonly<Record<number, string>> = {
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  409: "FAILED_PRECONDITION",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  502: "UNAVAILABLE",
  503: "UNAVAILABLE",
};

/** @throws what is neither an error of the protocol nor a problem */
export function refused(error: unknown): Response {
  if (error instanceof A2AError) return refusedBy(error);
  const refusal = problemOf(error);
  if (refusal === undefined) throw error;
  const named = a2aErrorOf(refusal.problem);
  return named === undefined ? writeProblem(refusal.problem, refusal.headers) : refusedBy(named);
}

/** A problem as a `google.rpc.Status`, with the problem's HTTP status and headers. */
export function writeProblem(
  problem: Problem,
  given: Readonly<Record<string, string>> = {},
): Response {
  // This protocol answers invalid requests with 400.
  const code = problem.status === 422 ? 400 : problem.status;
  const { headers } = problemResponse(problem, given);
  headers.set("content-type", REST_JSON);
  const body = statusBody(code, problemText(problem), problemInfo(problem));
  return new Response(JSON.stringify(body), { status: code, headers });
}

function refusedBy(error: A2AError): Response {
  const code = STATUSES[error.reason];
  const body = statusBody(code, error.message, errorInfoOf(error));
  return json(body, code, { "content-type": REST_JSON });
}

function statusBody(code: number, message: string, detail: object): object {
  return { error: { code, status: NAMES[code] ?? "INVALID_ARGUMENT", message, details: [detail] } };
}
