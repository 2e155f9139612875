import { TroupeError } from "../../core/errors.ts";
import { ModelError } from "../../core/models/model-error.ts";
import type { Secrets } from "../../outgoing/dependencies.ts";
import {
  answerError,
  connectionError,
  errorText,
  incompleteJson,
  timeoutError,
} from "../http/errors.ts";
import { readText } from "../http/read-text.ts";
import type { SendOptions } from "../http/read-stream.ts";
import { errorOf, chatAnswerSchema } from "./wire.ts";

/** How a server is reached. Made at the first call, because secrets may not be readable before. */
export interface Connection {
  /** With the path. */
  url: string;
  headers: Record<string, string>;
  fetch: typeof fetch;
  secrets: Secrets;
}

/** Longest part of an error answer that is read. */
const LONGEST_ERROR_BYTES = 64 * 1024;

/**
 * Sends one request. The time limit covers `read`, which gets the answer if it is not an error.
 *
 * @throws ModelError; the signal's reason when it aborted
 */
export async function send<T>(
  connection: Connection,
  body: string,
  { timeoutMs, idempotencyKey, signal }: SendOptions,
  read: (response: Response, signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal?.reason);
  const timer = setTimeout(() => controller.abort(timeoutError()), timeoutMs);
  signal?.addEventListener("abort", abort, { once: true });
  let begun = false;
  try {
    const response = await connection.fetch.call(undefined, connection.url, {
      method: "POST",
      headers: {
        ...connection.headers,
        "content-type": "application/json",
        ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
      },
      body,
      // A redirect could lead elsewhere with the headers' secrets.
      redirect: "manual",
      signal: controller.signal,
    });
    begun = true;
    if (!response.ok) throw await refusal(response, connection, controller.signal);
    const type = response.headers.get("content-type") ?? "";
    if (/html/i.test(type)) {
      await response.body?.cancel();
      throw new ModelError("bad_response", `The model server sent ${type} instead of JSON`);
    }
    return await read(response, controller.signal);
  } catch (error) {
    controller.signal.throwIfAborted();
    throw toModelError(error, connection, begun);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

/** An error of the request, its answer or the connection as one that says whether another attempt makes sense. */
export function toModelError(error: unknown, { secrets }: Connection, begun: boolean): TroupeError {
  if (error instanceof TroupeError) return error;
  if (error instanceof SyntaxError) return incompleteJson();
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  const why = cause instanceof Error ? `${message}: ${cause.message}` : message;
  return connectionError(
    errorText(why, (text) => secrets.redact(text)),
    begun,
  );
}

async function refusal(
  response: Response,
  { secrets }: Connection,
  signal: AbortSignal,
): Promise<ModelError> {
  const { status, headers } = response;
  const text = await readText(response, LONGEST_ERROR_BYTES, signal);
  const said = errorText(messageOf(text), (one) => secrets.redact(one));
  const message = `${status} ${said || "without a message"}`;
  const hint =
    status === 404 && /model .*not found/.test(said)
      ? `${message}. Get it with "ollama pull" on the server, or choose one that "ollama list" shows.`
      : message;
  return answerError({ status, headers }, hint);
}

function messageOf(text: string): string {
  try {
    const parsed = chatAnswerSchema.safeParse(JSON.parse(text));
    return (parsed.success && errorOf(parsed.data)) || text;
  } catch {
    return text;
  }
}
