import {
  AnthropicError,
  APIConnectionError,
  APIConnectionTimeoutError,
  APIError,
} from "@anthropic-ai/sdk/error";
import type { TroupeError } from "../../core/errors.ts";
import { fromSdkError } from "../http/sdk-errors.ts";

/**
 * An error of Anthropic's SDK as one that says whether another attempt makes sense.
 * @param redact removes secrets from a text
 */
export function toModelError(error: unknown, redact: (text: string) => string): TroupeError {
  return fromSdkError<APIError>(error, redact, {
    base: AnthropicError,
    connection: APIConnectionError,
    timeout: APIConnectionTimeoutError,
    answered: APIError,
    read: ({ status, type, headers, error: body, message }) => {
      const said = (body as ErrorBody | null)?.error?.message;
      return {
        answer: { status, type, headers },
        // The SDK's message is the whole body.
        message: said === undefined ? message : `${status ?? ""} ${said}`.trim(),
      };
    },
  });
}

interface ErrorBody {
  error?: { message?: string };
}
