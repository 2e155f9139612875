import { APIConnectionError, APIConnectionTimeoutError, APIError, OpenAIError } from "openai/error";
import { errorMessage, TroupeError } from "../../core/errors.ts";
import { ModelError, type ModelErrorKind } from "../../core/models/model-error.ts";
import { retryAfter } from "../../outgoing/retry-after.ts";

/** Error bodies may be whole pages. */
const LONGEST_MESSAGE = 500;

const CONTEXT_LENGTH =
  /context.?(length|window)|maximum context|prompt is too long|too many (input )?tokens|exceeds? .*token/i;

/**
 * What went wrong, as whoever counts attempts needs it. Errors of the SDK are not kept as causes: they carry headers
 * and bodies.
 * @param redact takes secrets out of a text
 */
export function toModelError(error: unknown, redact: (text: string) => string): TroupeError {
  if (error instanceof TroupeError) return error;
  // What the host's fetch refuses comes wrapped, and would look as if another attempt made sense.
  if (error instanceof APIConnectionError && error.cause instanceof TroupeError) return error.cause;
  const message = shorten(withoutKeys(redact(errorMessage(error))));
  if (error instanceof APIConnectionTimeoutError) return timeoutError();
  if (error instanceof APIConnectionError)
    return new ModelError("connection", `The model server cannot be reached: ${message}`);
  if (error instanceof APIError) return statusError(error, message);
  if (error instanceof SyntaxError)
    return new ModelError("bad_response", "The model server's answer is not complete JSON");
  if (error instanceof OpenAIError) return new ModelError("bad_response", message);
  // What is left comes from the transport: a connection that breaks while the answer is read.
  return new ModelError("connection", `The connection to the model server broke: ${message}`);
}

export function timeoutError(): ModelError {
  return new ModelError("timeout", "The model server took too long");
}

function statusError(error: APIError, message: string): ModelError {
  const { status, headers } = error;
  const kind = kindOf(error, message);
  const retryAfterMs = headers && retryAfter(headers);
  const verdict = headers?.get("x-should-retry");
  const noCredit = error.code === "insufficient_quota";
  return new ModelError(kind, message, {
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(noCredit || verdict === "false" ? { retryable: false } : {}),
    ...(verdict === "true" ? { retryable: true } : {}),
    ...(typeof error.code === "string" ? { data: { provider_code: error.code } } : {}),
  });
}

function kindOf({ status, code, type }: APIError, message: string): ModelErrorKind {
  if (code === "context_length_exceeded") return "context_length";
  switch (status) {
    case undefined:
      // An error in the middle of a stream has no status of its own.
      return code === "rate_limit_exceeded" || type === "rate_limit_error"
        ? "rate_limit"
        : "server";
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

function shorten(text: string): string {
  return text.length <= LONGEST_MESSAGE ? text : `${text.slice(0, LONGEST_MESSAGE)}...`;
}

/** Servers quote keys, shortened or not, that nobody here has looked up. */
function withoutKeys(text: string): string {
  return text.replace(/\b(sk|gsk|xai|key)-[A-Za-z0-9_*-]{8,}/g, "[redacted]");
}
