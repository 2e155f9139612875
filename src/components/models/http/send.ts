import { TroupeError } from "../../../core/errors.ts";
import { ModelError } from "../../../core/models/model-error.ts";
import {
  answerError,
  connectionError,
  type ErrorAnswer,
  errorText,
  incompleteJson,
} from "./errors.ts";
import { readText } from "./read-text.ts";
import type { SendOptions } from "./read-stream.ts";
import { withTimeLimit } from "./time-limit.ts";

/** A model server that is called without an SDK. */
export interface Endpoint {
  /** Sends one request; returns the answer whatever its status. */
  post(
    body: string,
    signal: AbortSignal,
    step: Pick<SendOptions, "idempotencyKey" | "trace">,
  ): Promise<Response>;
  /** The message in an error answer. An empty message stands for the whole text. */
  readError: (
    text: string,
    status: number,
  ) => Pick<ErrorAnswer, "code" | "noCredit"> & { message: string };
  /** Removes secrets from a text. */
  redact: (text: string) => string;
}

/** The longest part of an error answer to read. */
const LONGEST_ERROR_BYTES = 64 * 1024;

/**
 * Sends one request. The time limit covers `read`, which gets the answer if it is not an error.
 *
 * @throws ModelError; the signal's reason when it aborted
 */
export async function send<T>(
  endpoint: Endpoint,
  body: string,
  options: SendOptions,
  read: (response: Response, signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  let started = false;
  return withTimeLimit(
    options,
    async (signal) => {
      const response = await endpoint.post(body, signal, options);
      started = true;
      if (!response.ok) throw await refusal(response, endpoint, signal);
      const type = response.headers.get("content-type") ?? "";
      if (/html/i.test(type)) {
        await response.body?.cancel();
        throw new ModelError("bad_response", `The model server sent ${type} instead of JSON`);
      }
      return read(response, signal);
    },
    (error) => toModelError(error, endpoint, started),
  );
}

/** Maps an error of the request, its answer or the connection to one that says whether another attempt makes sense. */
export function toModelError(
  error: unknown,
  { redact }: Pick<Endpoint, "redact">,
  started: boolean,
): TroupeError {
  if (error instanceof TroupeError) return error;
  if (error instanceof SyntaxError) return incompleteJson();
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  const why = cause instanceof Error ? `${message}: ${cause.message}` : message;
  return connectionError(errorText(why, redact), started);
}

async function refusal(
  response: Response,
  { readError, redact }: Endpoint,
  signal: AbortSignal,
): Promise<ModelError> {
  const { status, headers } = response;
  const text = await readText(response, LONGEST_ERROR_BYTES, signal);
  const { message, ...answer } = readError(text, status);
  const said = errorText(message || text, redact);
  return answerError({ status, headers, ...answer }, `${status} ${said || "without a message"}`);
}
