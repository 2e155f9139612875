import { APIConnectionError, APIConnectionTimeoutError, APIError, OpenAIError } from "openai/error";
import { errorMessage, TroupeError } from "../../core/errors.ts";
import { ModelError } from "../../core/models/model-error.ts";
import {
  answerError,
  connectionError,
  errorText,
  incompleteJson,
  timeoutError,
} from "../http/errors.ts";

/**
 * An error of the SDK as one that says whether another attempt makes sense. The SDK's errors are not kept as causes,
 * because they carry headers and bodies.
 * @param redact removes secrets from a text
 */
export function toModelError(error: unknown, redact: (text: string) => string): TroupeError {
  if (error instanceof TroupeError) return error;
  // The host's fetch refused the request. Wrapped, that looks like a lost connection, which is worth another attempt.
  if (error instanceof APIConnectionError && error.cause instanceof TroupeError) return error.cause;
  const message = errorText(errorMessage(error), redact);
  if (error instanceof APIConnectionTimeoutError) return timeoutError();
  if (error instanceof APIConnectionError) return connectionError(message, false);
  if (error instanceof APIError) return answerError(error, message);
  if (error instanceof SyntaxError) return incompleteJson();
  if (error instanceof OpenAIError) return new ModelError("bad_response", message);
  // Errors of the transport: the connection broke while the answer was read.
  return connectionError(message, true);
}
