import type { TroupeError } from "../../core/errors.ts";
import { ModelError } from "../../core/models/model-error.ts";
import type { Secrets } from "../../outgoing/dependencies.ts";
import type { AnswerChunks } from "./answer-chunks.ts";
import { requestHeaders } from "./request-headers.ts";
import type { SendOptions, StreamSource } from "./read-stream.ts";
import { type RequestForms, sendForms } from "./request-forms.ts";
import { withTimeLimit } from "./time-limit.ts";

interface SdkRequest {
  /** JSON text: the SDKs pass it on unchanged. */
  body: string;
  headers: Record<string, string>;
  timeout: number;
  signal?: AbortSignal;
  stream?: boolean;
}

/** What the SDKs of model makers have in common: one tool generates them. */
export interface Sdk {
  post(
    path: string,
    request: SdkRequest,
  ): PromiseLike<unknown> & { asResponse(): Promise<Response> };
}

/** How a server is reached by its maker's SDK. Made at the first call, because secrets may not be readable before. */
export interface SdkConnection<Chunk> {
  sdk: Promise<Sdk>;
  path: string;
  secrets: Secrets;
  /** The chunks of a streamed answer. */
  chunks: (response: Response) => AnswerChunks<Chunk>;
  /**
   * An error of the SDK as one that says whether another attempt makes sense. The SDK's errors are not kept as causes,
   * because they carry headers and bodies.
   * @param redact removes secrets from a text
   */
  toError: (error: unknown, redact: (text: string) => string) => TroupeError;
}

/** Where a request goes, and how its streamed answer is read. */
export type SdkTarget<Chunk> = Pick<SdkConnection<Chunk>, "sdk" | "path" | "chunks">;

/**
 * Sends one request and returns the parsed body of the answer.
 * @throws ModelError; the signal's reason when it aborted
 */
export async function sendBySdk(
  connection: SdkConnection<unknown>,
  forms: RequestForms,
  options: SendOptions,
): Promise<unknown> {
  const { secrets, toError } = connection;
  // An SDK's own time limit may end with the head of the answer.
  return withTimeLimit(
    options,
    (signal) => postBySdk(connection, forms, { ...options, signal }),
    (error) => toError(error, (text) => secrets.redact(text)),
  );
}

/** The parsed body of the answer to one request. @throws the SDK's errors */
export async function postBySdk(
  { sdk, path }: Pick<SdkConnection<unknown>, "sdk" | "path">,
  forms: RequestForms,
  options: SendOptions,
): Promise<unknown> {
  const client = await sdk;
  return sendForms(forms, options, async (body, one) => client.post(path, request(body, one)));
}

/** The answer to one request as a stream. */
export function streamBySdk<Chunk>(
  connection: SdkConnection<Chunk>,
  forms: RequestForms,
  options: SendOptions,
): StreamSource<Chunk> {
  const { secrets, toError } = connection;
  return {
    open: () => openBySdk(connection, forms, options),
    toError: (error) => toError(error, (text) => secrets.redact(text)),
  };
}

/** Sends one request, and returns once its answer has begun to stream. @throws the SDK's errors */
export async function openBySdk<Chunk>(
  { sdk, path, chunks }: SdkTarget<Chunk>,
  forms: RequestForms,
  options: SendOptions,
): Promise<AnswerChunks<Chunk>> {
  const client = await sdk;
  const response = await sendForms(forms, options, (body, one) =>
    client.post(path, { ...request(body, one), stream: true }).asResponse(),
  );
  const type = response.headers.get("content-type") ?? "";
  if (/html|json/i.test(type)) {
    await response.body?.cancel();
    throw new ModelError("bad_response", `The model server sent ${type} instead of a stream`);
  }
  return chunks(response);
}

const JSON_HEADERS = { "content-type": "application/json" };

function request(
  body: string,
  { timeoutMs, idempotencyKey, signal, trace }: SendOptions,
): SdkRequest {
  return {
    body,
    headers:
      idempotencyKey === undefined && trace === undefined
        ? JSON_HEADERS
        : { ...JSON_HEADERS, ...requestHeaders({ idempotencyKey, trace }) },
    timeout: timeoutMs,
    ...(signal === undefined ? {} : { signal }),
  };
}
