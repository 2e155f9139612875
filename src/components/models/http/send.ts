/**
 * Sends requests to model servers with `fetch` alone. OpenAI's clients send by its SDK instead (sdk-connection.ts): a call costs
 * 0.11 ms of CPU there and 0.01 ms here (medians of 5 times 3,000 calls in Node 26), and what the SDK is better at is knowing OpenAI:
 * each version of it names the models that the catalogue lacks.
 */

import { TroupeError } from "../../../core/errors.ts";
import { stepHeaders } from "../../../core/steps/hops.ts";
import type { Secrets } from "../../../outgoing/dependencies.ts";
import type { OutgoingFetch } from "../../../outgoing/outgoing-fetch.ts";
import {
  connectionError,
  errorText,
  incompleteJson,
  redactedError,
  reportedError,
  ServerFailure,
  timeoutError,
} from "./errors.ts";
import { readErrorText } from "./body-reader.ts";
import type { SendOptions } from "./read-stream.ts";
import { type RequestForms, sendForms } from "./request-forms.ts";
import { withTimeLimit } from "./time-limit.ts";

/** A model server that is called without an SDK. */
export interface ModelEndpoint {
  /** Sends one request; returns the answer whatever its status. */
  post(
    body: string,
    signal: AbortSignal,
    step: Pick<SendOptions, "idempotencyKey" | "trace" | "hops">,
  ): Promise<Response>;
  /** Advice to add to the message of an error answer; empty where there is none. */
  hint?: (message: string, status: number) => string;
  /** Its host, for errors. */
  server: string;
  /** Removed from its errors and answers. */
  secrets: Pick<Secrets, "redact" | "inAnswers">;
}

/** The address and access of a server that takes JSON by HTTP. */
export interface HttpServer {
  /** Includes the path. */
  url: string;
  headers: Record<string, string>;
  fetch: OutgoingFetch;
  secrets: Secrets;
  hint?: ModelEndpoint["hint"];
}

/** The endpoint of a server that takes JSON by HTTP. */
export function httpEndpoint({ url, headers, fetch, secrets, hint }: HttpServer): ModelEndpoint {
  return {
    post: (body, signal, step) =>
      fetch(url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json", ...stepHeaders(step) },
        body,
        // A redirect could lead elsewhere with the headers' secrets.
        redirect: "manual",
        signal,
        limit: "own",
      }),
    ...(hint && { hint }),
    server: secrets.host,
    secrets,
  };
}

/**
 * Sends one request, in the first form that the server accepts. The time limit covers `read`, which gets the answer if it is
 * not an error.
 *
 * @throws ModelError; the signal's reason when it aborted
 */
export async function send<T>(
  endpoint: ModelEndpoint,
  forms: RequestForms,
  options: SendOptions,
  read: (response: Response, signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  let started = false;
  return withTimeLimit(
    options,
    async (signal) => {
      const response = await sendForms(forms, options, async (body, step) => {
        started = false;
        const answer = await endpoint.post(body, signal, step);
        started = true;
        if (!answer.ok) throw await failureOf(answer, signal);
        return answer;
      });
      return read(response, signal);
    },
    (error) => toModelError(error, endpoint, started),
  );
}

/** Maps an error of the request, its answer or the connection to one that says whether another attempt makes sense. */
export function toModelError(
  error: unknown,
  { secrets, hint }: Pick<ModelEndpoint, "secrets" | "hint">,
  started: boolean,
): TroupeError {
  const redact = (text: string): string => secrets.redact(text);
  if (error instanceof TroupeError) return redactedError(error, redact);
  if (error instanceof ServerFailure) return reportedError(error, redact, hint);
  if (error instanceof SyntaxError) return incompleteJson();
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  const why = cause instanceof Error ? `${message}: ${cause.message}` : message;
  // Nothing but its words tells a host's timeout from another failure to connect.
  if (!started && /timed? ?out/i.test(why)) return timeoutError();
  return connectionError(errorText(why, redact), started);
}

async function failureOf(response: Response, signal: AbortSignal): Promise<ServerFailure> {
  const { status, headers } = response;
  return new ServerFailure(await readErrorText(response, signal), status, headers);
}
