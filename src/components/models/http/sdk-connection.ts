import type { TroupeError } from "../../../core/errors.ts";
import type { Secrets } from "../../../outgoing/dependencies.ts";
import { AnswerPieces } from "./answer-pieces.ts";
import { type AnswerReader, readAnswer, requestHeaders, type SendOptions } from "./read-stream.ts";
import { type RequestForms, sendForms as sendInTurn } from "./request-forms.ts";
import { withTimeLimit } from "./time-limit.ts";

interface SdkRequest {
  /** JSON text: the SDK passes it on unchanged. */
  body: string;
  headers: Record<string, string>;
  timeout: number;
  signal?: AbortSignal;
  stream?: boolean;
}

/** The part of OpenAI's SDK that sends. */
export interface Sdk {
  post(
    path: string,
    request: SdkRequest,
  ): PromiseLike<unknown> & { asResponse(): Promise<Response> };
}

/**
 * The connection to a server by its provider's SDK. Made at the first call, because secrets may not be readable before.
 */
export interface SdkConnection extends SdkTarget {
  /**
   * Maps an error of the SDK to one that says whether another attempt makes sense. The SDK's errors are not kept as
   * causes, because they carry headers and bodies.
   * @param redact removes secrets from a text
   */
  toError: (error: unknown, redact: (text: string) => string) => TroupeError;
}

/** The path of a request, the SDK that sends it, and the secrets that it has. */
export interface SdkTarget {
  secrets: Secrets;
  sdk: Promise<Sdk>;
  path: string;
}

/**
 * Sends one request and reads its answer.
 * @throws ModelError; the signal's reason when it aborted
 */
export async function sendBySdk<T>(
  connection: SdkConnection,
  forms: RequestForms,
  reader: AnswerReader<T>,
  options: SendOptions,
): Promise<T> {
  const { secrets, toError } = connection;
  // An SDK's own time limit may end with the head of the answer.
  return withTimeLimit(
    options,
    (signal) => postBySdk(connection, forms, reader, { ...options, signal }),
    (error) => toError(error, (text) => secrets.redact(text)),
  );
}

/** The answer to one request. @throws the SDK's errors, ServerFailure, ModelError */
export async function postBySdk<T>(
  { sdk, path, secrets }: SdkTarget,
  forms: RequestForms,
  reader: AnswerReader<T>,
  options: SendOptions & { signal: AbortSignal },
): Promise<T> {
  const client = await sdk;
  const response = await sendForms(forms, options, (body, one) =>
    client.post(path, request(body, one)).asResponse(),
  );
  return readAnswer({ response, server: secrets.host }, reader, options.signal);
}

/** Sends one request, and returns once its answer has started to stream. @throws the SDK's errors */
export async function openBySdk(
  { sdk, path, secrets }: SdkTarget,
  forms: RequestForms,
  options: SendOptions,
): Promise<AnswerPieces> {
  const client = await sdk;
  const response = await sendForms(forms, options, (body, one) =>
    client.post(path, { ...request(body, one), stream: true }).asResponse(),
  );
  return new AnswerPieces({ response, server: secrets.host }, true);
}

/** Sends the first form that the server accepts. Most requests have one, which needs no look at a refusal. */
function sendForms<T>(
  forms: RequestForms,
  options: SendOptions,
  send: (text: string, options: SendOptions) => Promise<T>,
): Promise<T> {
  const { text, others = [] } = forms;
  return others.length === 0 ? send(text, options) : sendInTurn(forms, options, send);
}

const JSON_HEADERS = { "content-type": "application/json" };

function request(body: string, { timeoutMs, signal, ...step }: SendOptions): SdkRequest {
  return {
    body,
    headers: { ...JSON_HEADERS, ...requestHeaders(step) },
    timeout: timeoutMs,
    ...(signal === undefined ? {} : { signal }),
  };
}
