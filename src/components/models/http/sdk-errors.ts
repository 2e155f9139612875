import { errorMessage, TroupeError } from "../../../core/errors.ts";
import { ModelError } from "../../../core/models/model-error.ts";
import {
  connectionError,
  errorText,
  incompleteJson,
  redactedError,
  reportedError,
  ServerFailure,
  timeoutError,
} from "./errors.ts";

type ErrorClass<T extends Error> = abstract new (...args: never[]) => T;

/** An error answer as both SDKs give it. */
interface Answered extends Error {
  readonly status: number | undefined;
  readonly headers: Headers | undefined;
  /** The parsed body, or the error in it; undefined where the body is not JSON. */
  readonly error: unknown;
}

/** The error classes of a provider's SDK. */
export interface SdkErrors {
  /** The one that all others extend. */
  base: ErrorClass<Error>;
  connection: ErrorClass<Error>;
  timeout: ErrorClass<Error>;
  /** The class of an error answer. */
  answered: ErrorClass<Answered>;
}

/**
 * Maps an error of an SDK to one that says whether another attempt makes sense.
 * @param redact removes secrets from a text
 */
export function fromSdkError(
  error: unknown,
  redact: (text: string) => string,
  { base, connection, timeout, answered }: SdkErrors,
): TroupeError {
  if (error instanceof TroupeError) return redactedError(error, redact);
  if (error instanceof ServerFailure) return reportedError(error, redact);
  // The host's fetch refused the request. Wrapped, that looks like a lost connection, which would be retried.
  if (error instanceof connection && error.cause instanceof TroupeError) return error.cause;
  if (error instanceof timeout) return timeoutError();
  const text = errorText(errorMessage(error), redact);
  if (error instanceof connection) return connectionError(text, false);
  if (error instanceof answered) return reportedError(failureOf(error), redact);
  if (error instanceof SyntaxError) return incompleteJson();
  if (error instanceof base) return new ModelError("bad_response", text);
  // Errors of the transport: the connection broke while the answer was read.
  return connectionError(text, true);
}

/** An error answer of an SDK. Where its body is not JSON, the message has its text behind the status. */
export function failureOf({ status, headers, error, message }: Answered): ServerFailure {
  const text = message.replace(/^\d{3} (status code \(no body\))?/, "");
  return new ServerFailure(error ?? text, status, headers);
}
