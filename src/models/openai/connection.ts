import type { OpenAI } from "openai";
import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import { ModelError } from "../../core/models/model-error.ts";
import type { Secrets } from "../../outgoing/dependencies.ts";
import { timeoutError, toModelError } from "./errors.ts";
import { ServerEvents } from "./server-events.ts";
import { StallWatch } from "./stall-watch.ts";

/** How a server is reached: made on the first call, because secrets may not be there before. */
export interface Connection {
  sdk: Promise<OpenAI>;
  path: string;
  secrets: Secrets;
}

export interface SendOptions {
  /** Milliseconds to wait for the answer or, while streaming, for its beginning and each further chunk. */
  timeoutMs: number;
  idempotencyKey: string | undefined;
  signal: AbortSignal | undefined;
}

/**
 * Sends one request and returns the body of the answer, parsed.
 * @param body JSON text: the SDK passes it on as it is
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

/** Puts the chunks of an answer together. */
export interface ChunkReader<T> {
  /** What a chunk adds to the text that is shown; may be empty. */
  read(chunk: ChatCompletionChunk): string;
  /** The whole, once all chunks are there. */
  result(): T;
}

/**
 * Sends one request and reads the answer as it comes. Whoever stops early closes the connection.
 * @param prepare called when the first piece is asked for
 * @throws ModelError; the signal's reason when it aborted
 */
export async function* sendStreaming<T>(
  prepare: () => { connection: Connection; body: string; options: SendOptions },
  reader: ChunkReader<T>,
): AsyncGenerator<string, T, void> {
  const { connection, body, options } = prepare();
  const { signal } = options;
  let events: ServerEvents | undefined;
  let watch: StallWatch | undefined;
  let complete = false;
  const cancel = (): void => events?.cancel();
  try {
    const sdk = await connection.sdk;
    const response = await sdk
      .post(connection.path, { ...request(body, options), stream: true })
      .asResponse();
    const type = response.headers.get("content-type") ?? "";
    if (/html|json/i.test(type)) {
      await response.body?.cancel();
      throw new ModelError("bad_response", `The model server sent ${type} instead of a stream`);
    }
    events = new ServerEvents(response);
    watch = new StallWatch(options.timeoutMs, cancel);
    signal?.addEventListener("abort", cancel);
    signal?.throwIfAborted();
    for (let chunks = await events.next(); chunks !== undefined; chunks = await events.next()) {
      watch.beat();
      for (const chunk of chunks) {
        const piece = reader.read(chunk);
        if (piece !== "") yield piece;
      }
    }
    // A cancelled body ends as if it were complete.
    signal?.throwIfAborted();
    if (watch.stalled) throw timeoutError();
    const result = reader.result();
    complete = true;
    return result;
  } catch (error) {
    signal?.throwIfAborted();
    if (watch?.stalled) throw timeoutError();
    throw toModelError(error, (text) => connection.secrets.redact(text));
  } finally {
    watch?.stop();
    signal?.removeEventListener("abort", cancel);
    if (complete) events?.finish();
    else cancel();
  }
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
