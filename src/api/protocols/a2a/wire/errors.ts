import type { Problem } from "../../../../contract/problem.ts";
import { json } from "../../../http/endpoint/endpoint.ts";
import { problemResponse } from "../../../http/endpoint/problem.ts";
import type { RpcId } from "./wire.ts";

/** The errors that A2A names, with their codes in JSON-RPC. */
const CODES = {
  TASK_NOT_FOUND: -32_001,
  TASK_NOT_CANCELABLE: -32_002,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32_003,
  UNSUPPORTED_OPERATION: -32_004,
  CONTENT_TYPE_NOT_SUPPORTED: -32_005,
  VERSION_NOT_SUPPORTED: -32_009,
  INVALID_PARAMS: -32_602,
} as const;

/** A request that is refused with an error of the protocol. */
export class A2AError extends Error {
  readonly reason: keyof typeof CODES;

  constructor(reason: keyof typeof CODES, message: string) {
    super(message);
    this.name = "A2AError";
    this.reason = reason;
  }
}

interface RpcError {
  code: number;
  message: string;
  /** A `google.rpc.ErrorInfo`. */
  data?: object[];
}

const PARSE_ERROR = -32_700;
export const INVALID_REQUEST = -32_600;
export const METHOD_NOT_FOUND = -32_601;
const INTERNAL_ERROR = -32_603;
/** The code that JSON-RPC reserves for a server's own errors. */
const SERVER_ERROR = -32_000;

/** An error of the protocol. Like every response of JSON-RPC it is sent with 200. */
export function errorResponse(id: RpcId, error: RpcError): Response {
  return json({ jsonrpc: "2.0", id, error });
}

export function refusedBy(id: RpcId, error: A2AError): Response {
  const { reason, message } = error;
  return errorResponse(id, { code: CODES[reason], message, data: [errorInfoOf(error)] });
}

/** The `google.rpc.ErrorInfo` of an error. */
export function errorInfoOf({ reason }: A2AError): object {
  return errorInfo(reason, "a2a-protocol.org");
}

/** The `google.rpc.ErrorInfo` of a problem. */
export function problemInfo({ code }: Problem): object {
  return code === "unsupported_media_type"
    ? errorInfo("CONTENT_TYPE_NOT_SUPPORTED", "a2a-protocol.org")
    : errorInfo(code.toUpperCase(), "troupe");
}

/** The text of a problem, with the places of its errors. */
export function problemText({ detail, errors = [] }: Problem): string {
  return detail + errors.map(({ path, message }) => `\n- ${placeOf(path)}: ${message}`).join("");
}

/** The place in a message, for a place in the task or the answer that was made of it. */
function placeOf(path: string): string {
  return path
    .replace(/^(?:task|content)(?=\.|$)/, "message")
    .replace(/^message\.content(?=\[|$)/, "message.parts");
}

/** A problem with the parameters, as an error of the protocol. */
export function invalidParams(id: RpcId, problem: Problem): Response {
  return errorResponse(id, rpcErrorOf(problem));
}

/** A problem as an error of JSON-RPC, with the problem's HTTP status and headers. */
export function writeProblem(
  problem: Problem,
  given: Readonly<Record<string, string>> = {},
  id: RpcId = null,
): Response {
  const { status } = problem;
  const { headers } = problemResponse(problem, given);
  headers.set("content-type", "application/json");
  const error = rpcErrorOf(problem);
  return new Response(JSON.stringify({ jsonrpc: "2.0", id, error }), { status, headers });
}

function rpcErrorOf(problem: Problem): RpcError {
  return { code: codeOf(problem), message: problemText(problem), data: [problemInfo(problem)] };
}

const USED_MESSAGE_ID =
  "message.messageId was used for another message in this context: each message needs an id of its own";

export const INVALID_TOKEN = "pageToken must be the nextPageToken of an earlier page";

/** The error of the protocol that a problem is; undefined for those of HTTP: credentials, limits, outages. */
export function a2aErrorOf({ status, code, detail }: Problem): A2AError | undefined {
  if (code === "run_not_found") return new A2AError("TASK_NOT_FOUND", "There is no such task.");
  if (code === "idempotency_mismatch") return new A2AError("INVALID_PARAMS", USED_MESSAGE_ID);
  if (code === "invalid_cursor") return new A2AError("INVALID_PARAMS", INVALID_TOKEN);
  if (status === 409) return new A2AError("UNSUPPORTED_OPERATION", detail);
  return undefined;
}

function codeOf({ status, code }: Problem): number {
  if (code === "malformed_json") return PARSE_ERROR;
  if (status === 415) return CODES.CONTENT_TYPE_NOT_SUPPORTED;
  if (status === 422) return CODES.INVALID_PARAMS;
  return status === 500 ? INTERNAL_ERROR : SERVER_ERROR;
}

function errorInfo(reason: string, domain: string): object {
  return { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain };
}
