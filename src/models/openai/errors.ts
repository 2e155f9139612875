import { APIConnectionError, APIConnectionTimeoutError, APIError, OpenAIError } from "openai/error";
import type { TroupeError } from "../../core/errors.ts";
import { fromSdkError } from "../http/sdk-errors.ts";

/**
 * An error of OpenAI's SDK as one that says whether another attempt makes sense.
 * @param redact removes secrets from a text
 */
export function toModelError(error: unknown, redact: (text: string) => string): TroupeError {
  return fromSdkError<APIError>(error, redact, {
    base: OpenAIError,
    connection: APIConnectionError,
    timeout: APIConnectionTimeoutError,
    answered: APIError,
    read: (answer) => ({ answer, message: answer.message }),
  });
}
