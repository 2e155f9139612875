import { ModelError, type ModelErrorKind } from "../../../core/models/model-error.ts";
import { retryAfter } from "../../../outgoing/retry-after.ts";

/** Error bodies may be whole pages. */
const LONGEST_MESSAGE = 500;

const CONTEXT_LENGTH =
  /context.?(length|window)|maximum context|prompt is too long|too many (input )?tokens|exceeds? .*token/i;

/** An error answer of a model server, with its known details. */
export interface ErrorAnswer {
  /** Undefined for an error in the middle of a stream, which has no status of its own. */
  status?: number | undefined;
  code?: unknown;
  type?: unknown;
  /** The account's quota is used up: another attempt is useless. */
  noCredit?: boolean;
  headers?: Headers | undefined;
}

export function timeoutError(): ModelError {
  return new ModelError("timeout", "The model server took too long");
}

/** The error of a connection that broke while the answer was read, or could not be made. */
export function connectionError(message: string, started: boolean): ModelError {
  return new ModelError(
    "connection",
    started
      ? `The connection to the model server broke: ${message}`
      : `The model server cannot be reached: ${message}`,
  );
}

/** The error for an answer that ended too early or is not JSON. */
export function incompleteJson(): ModelError {
  return new ModelError("bad_response", "The model server's answer is not complete JSON");
}

/**
 * Maps an error answer to an error that says whether another attempt makes sense.
 * @param message without secrets
 */
export function answerError(answer: ErrorAnswer, message: string): ModelError {
  const { status, code, headers } = answer;
  const retryAfterMs = headers && retryAfter(headers);
  const verdict = verdictOf(answer);
  const wait = verdict === false ? "" : waitText(retryAfterMs);
  return new ModelError(kindOf(answer, message), `${message}${wait}`, {
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(verdict === undefined ? {} : { retryable: verdict }),
    ...(typeof code === "string" ? { data: { provider_code: code } } : {}),
  });
}

/** The requested wait, for the reader of a run that did not have that much patience. */
function waitText(retryAfterMs = 0): string {
  const seconds = Math.ceil(retryAfterMs / 1000);
  return seconds < 2 ? "" : ` (the server asks for a wait of ${seconds} seconds)`;
}

/** Whether the server's headers recommend another attempt; undefined if the kind of the error decides. */
function verdictOf(answer: ErrorAnswer): boolean | undefined {
  const { status = 500, code, type, noCredit, headers } = answer;
  // Some servers leave out the code and give the type alone.
  const hasNoQuota = code === "insufficient_quota" || type === "insufficient_quota";
  if (noCredit === true || hasNoQuota) return false;
  const verdict = headers?.get("x-should-retry");
  if (verdict === "false") return false;
  // A refused request would be refused again, whatever the header says.
  const isRefused = status >= 400 && status < 500 && ![408, 409, 429].includes(status);
  return verdict === "true" && !isRefused ? true : undefined;
}

function kindOf({ status, code, type }: ErrorAnswer, message: string): ModelErrorKind {
  if (code === "context_length_exceeded") return "context_length";
  switch (status) {
    case undefined:
      if (code === "rate_limit_exceeded" || type === "rate_limit_error") return "rate_limit";
      return CONTEXT_LENGTH.test(message) ? "context_length" : "server";
    case 401:
    case 403:
      return "auth";
    case 408:
      return "timeout";
    case 409:
      return "server";
    case 429:
      return "rate_limit";
    default:
      if (status >= 500) return "server";
      if (status < 400) return "bad_response";
      return CONTEXT_LENGTH.test(message) ? "context_length" : "bad_request";
  }
}

/**
 * A server's error text, fit to be stored and shown: shortened, without keys.
 * @param redact removes the secrets of the request
 */
export function errorText(text: string, redact: (text: string) => string): string {
  const clean = withoutKeys(redact(text));
  return clean.length <= LONGEST_MESSAGE ? clean : `${clean.slice(0, LONGEST_MESSAGE)}...`;
}

/** Servers also quote keys that the request did not carry, whole or shortened. */
function withoutKeys(text: string): string {
  return text.replace(/\b(sk|gsk|xai|key)-[A-Za-z0-9_*-]{8,}/g, "[redacted]");
}
