import type { OpenAI } from "openai";
import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import { ModelError } from "../../core/models/model-error.ts";
import type { Secrets } from "../../outgoing/dependencies.ts";
import type { SendOptions, StreamSource } from "../http/read-stream.ts";
import { toModelError } from "./errors.ts";
import { ServerEvents } from "./server-events.ts";

/** How a server is reached. Made at the first call, because secrets may not be readable before. */
export interface Connection {
  sdk: Promise<OpenAI>;
  path: string;
  secrets: Secrets;
}

/**
 * Sends one request and returns the parsed body of the answer.
 * @param body JSON text: the SDK passes it on unchanged
 * @throws ModelError; the signal's reason when it aborted
 */
export async function send(
  { sdk, path, secrets }: Connection,
  body: string,
  options: SendOptions,
): Promise<unknown> {
  try {
    return await (await sdk).post<unknown>(path, request(body, options));
  } catch (error) {
    options.signal?.throwIfAborted();
    throw toModelError(error, (text) => secrets.redact(text));
  }
}

/** The answer to one request as a stream. */
export function streamSource(
  { sdk, path, secrets }: Connection,
  body: string,
  options: SendOptions,
): StreamSource<ChatCompletionChunk> {
  return {
    async open() {
      const response = await (
        await sdk
      )
        .post(path, { ...request(body, options), stream: true })
        .asResponse();
      const type = response.headers.get("content-type") ?? "";
      if (/html|json/i.test(type)) {
        await response.body?.cancel();
        throw new ModelError("bad_response", `The model server sent ${type} instead of a stream`);
      }
      return new ServerEvents(response);
    },
    toError: (error) => toModelError(error, (text) => secrets.redact(text)),
  };
}

const JSON_HEADERS = { "content-type": "application/json" };

function request(body: string, { timeoutMs, idempotencyKey, signal }: SendOptions) {
  return {
    body,
    headers:
      idempotencyKey === undefined
        ? JSON_HEADERS
        : { ...JSON_HEADERS, "idempotency-key": idempotencyKey },
    timeout: timeoutMs,
    ...(signal === undefined ? {} : { signal }),
  };
}
