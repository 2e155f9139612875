import { errorMessage, TroupeError } from "../../../core/errors.ts";
import { ModelError } from "../../../core/models/model-error.ts";
import {
  answerError,
  connectionError,
  type ErrorAnswer,
  errorText,
  incompleteJson,
  timeoutError,
} from "./errors.ts";

type ErrorClass<T extends Error> = abstract new (...args: never[]) => T;

/** The error classes of a provider's SDK. */
export interface SdkErrors<Answered extends Error> {
  /** The one that all others extend. */
  base: ErrorClass<Error>;
  connection: ErrorClass<Error>;
  timeout: ErrorClass<Error>;
  /** The class of an error answer. */
  answered: ErrorClass<Answered>;
  /** The content of an error answer. */
  read: (error: Answered) => { answer: ErrorAnswer; message: string };
}

/**
 * Maps an error of an SDK to one that says whether another attempt makes sense.
 * @param redact removes secrets from a text
 */
export function fromSdkError<Answered extends Error>(
  error: unknown,
  redact: (text: string) => string,
  { base, connection, timeout, answered, read }: SdkErrors<Answered>,
): TroupeError {
  if (error instanceof TroupeError) return error;
  // The host's fetch refused the request. Wrapped, that looks like a lost connection, which would be retried.
  if (error instanceof connection && error.cause instanceof TroupeError) return error.cause;
  if (error instanceof timeout) return timeoutError();
  const text = errorText(errorMessage(error), redact);
  if (error instanceof connection) return connectionError(text, false);
  if (error instanceof answered) {
    const { answer, message } = read(error);
    return answerError(answer, errorText(message, redact));
  }
  if (error instanceof SyntaxError) return incompleteJson();
  if (error instanceof base) return new ModelError("bad_response", text);
  // Errors of the transport: the connection broke while the answer was read.
  return connectionError(text, true);
}
