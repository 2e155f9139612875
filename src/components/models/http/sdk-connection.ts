import type { TroupeError } from "../../../core/errors.ts";
import { stepHeaders } from "../../../core/steps/hops.ts";
import type { OutgoingDependencies, Secrets } from "../../../outgoing/dependencies.ts";
import { type OutgoingFetch, outgoingFetch } from "../../../outgoing/outgoing-fetch.ts";
import { AnswerPieces } from "./answer-pieces.ts";
import { readErrorText } from "./body-reader.ts";
import { type AnswerReader, readAnswer, type SendOptions } from "./read-stream.ts";
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
    headers: { ...JSON_HEADERS, ...stepHeaders(step) },
    timeout: timeoutMs,
    ...(signal === undefined ? {} : { signal }),
  };
}

/** Limit of SDKs kept per `fetch`. */
const MOST_KEPT = 50;

/** Options of every SDK: no retries (the caller counts attempts), no redirects (they could lead elsewhere with the key), no log. */
export interface SdkOptions {
  maxRetries: 0;
  logLevel: "off";
  fetchOptions: { redirect: "manual" };
  fetch: OutgoingFetch;
}

/**
 * SDKs by `fetch` and options. Creating one takes a millisecond, because it has an object for every part of its
 * provider's API, and teams of one deployment mostly use the same server with the same key. An SDK stores nothing of a
 * request, so any number of teams may share it.
 */
export class SdkCache<Given, Made extends Sdk> {
  readonly #load: () => Promise<(given: Given, options: SdkOptions) => Made>;
  readonly #made = new WeakMap<OutgoingFetch, Map<string, Made>>();

  /** @param load imports the SDK: it is large, and many isolates never call a model */
  constructor(load: () => Promise<(given: Given, options: SdkOptions) => Made>) {
    this.#load = load;
  }

  /** @param given the SDK's options, as JSON */
  async get(given: Given, dependencies: OutgoingDependencies): Promise<Made> {
    const make = await this.#load();
    const send = outgoingFetch(dependencies);
    const known = this.#made.get(send) ?? new Map<string, Made>();
    this.#made.set(send, known);
    const key = JSON.stringify(given);
    const sdk =
      known.get(key) ??
      make(given, {
        maxRetries: 0,
        logLevel: "off",
        fetchOptions: { redirect: "manual" },
        fetch: withShortErrors(send),
      });
    // In order of use, the last used at the end.
    known.delete(key);
    known.set(key, sdk);
    for (const oldest of known.keys()) {
      if (known.size <= MOST_KEPT) break;
      known.delete(oldest);
    }
    return sdk;
  }
}

/** An SDK reads an error answer as a whole, whatever its size. A good one is read, and counted, by Troupe. */
function withShortErrors(send: OutgoingFetch): OutgoingFetch {
  return async (input, init = {}) => {
    const response = await send(input, { ...init, limit: "own" });
    if (response.ok) return response;
    const { status, statusText, headers } = response;
    const text = await readErrorText(response, init.signal);
    return new Response(text, { status, statusText, headers });
  };
}
