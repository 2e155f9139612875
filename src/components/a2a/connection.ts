import { createParser } from "eventsource-parser";
import { errorMessage, TroupeError } from "../../core/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { beginningOf } from "../../core/cut.ts";
import {
  type OutgoingDependencies,
  type SecretForms,
  Secrets,
} from "../../outgoing/dependencies.ts";
import { openHeaders } from "../../outgoing/headers.ts";
import { type OutgoingInit, outgoingFetch } from "../../outgoing/outgoing-fetch.ts";
import { askedWaitText, isUnsent, outlookOfStatus } from "../../outgoing/request-error.ts";
import { A2AError } from "./a2a-error.ts";
import { cardURL, interfaceOf, type RemoteInterface } from "./agent-card.ts";
import type { A2AAgentConfig } from "./config.ts";

/** The most bytes of a response, streams included. */
const MOST_BYTES = 20_000_000;
/** Time limit for the agent card. */
const CARD_MS = 30_000;
/** Longer error texts are truncated. */
const MOST_ERROR = 2_000;

const JSON_TYPE = "application/json";
const EVENT_STREAM = "text/event-stream";

interface Sent {
  signal: AbortSignal;
  /** More headers: the step's key and its trace context. */
  headers?: Readonly<Record<string, string>>;
}

/** Requests to a remote agent. Secrets are removed from all of its responses. */
export class RemoteAgent {
  readonly #config: A2AAgentConfig;
  readonly #dependencies: OutgoingDependencies;
  readonly #secrets: Secrets;

  constructor(config: A2AAgentConfig, dependencies: OutgoingDependencies) {
    this.#config = config;
    this.#dependencies = dependencies;
    this.#secrets = new Secrets(dependencies, new URL(config.url).origin, config);
  }

  /** The secrets that may arrive in several events of a stream. */
  get secretForms(): SecretForms {
    return this.#secrets.inAnswers;
  }

  /** Its interface, from its card. @throws A2AError */
  async card({ signal: given }: Sent): Promise<RemoteInterface> {
    const url = cardURL(this.#config.url);
    const late = AbortSignal.timeout(CARD_MS);
    const signal = AbortSignal.any([given, late]);
    try {
      const response = await this.#fetch(url, { method: "GET" }, { signal });
      return interfaceOf(parse(await this.#text(response, signal), url), url);
    } catch (error) {
      if (!late.aborted || given.aborted) throw error;
      throw new A2AError("a2a_connection", `${url} did not answer within ${CARD_MS / 1000} s.`);
    }
  }

  /** Calls a method. @returns its result @throws A2AError */
  async call(
    at: RemoteInterface,
    method: string,
    params: JsonObject,
    sent: Sent,
  ): Promise<unknown> {
    const response = await this.#send(at, method, params, JSON_TYPE, sent);
    return resultOf(parse(await this.#text(response, sent.signal), at.url));
  }

  /** Calls a method that answers with a stream. Yields the results. @throws A2AError */
  async *stream(
    at: RemoteInterface,
    method: string,
    params: JsonObject,
    sent: Sent,
  ): AsyncGenerator<unknown, void, void> {
    const response = await this.#send(at, method, params, EVENT_STREAM, sent);
    if (!response.headers.get("content-type")?.startsWith(EVENT_STREAM)) {
      // The response is an error, or the only result.
      return yield resultOf(parse(await this.#text(response, sent.signal), at.url));
    }
    const events: string[] = [];
    const parser = createParser({ onEvent: ({ data }) => events.push(this.#secrets.redact(data)) });
    for await (const text of this.#pieces(response, sent.signal)) {
      parser.feed(text);
      for (const event of events.splice(0)) yield resultOf(parse(event, at.url));
    }
  }

  async #send(
    at: RemoteInterface,
    method: string,
    params: JsonObject,
    accept: string,
    sent: Sent,
  ): Promise<Response> {
    const tenant = at.tenant === "" ? {} : { tenant: at.tenant };
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method,
      params: { ...tenant, ...params },
    });
    const headers = { "content-type": JSON_TYPE, accept };
    const namedBy = cardURL(this.#config.url);
    const init = { method: "POST", body, headers, namedBy, limit: "own", once: true } as const;
    return this.#fetch(at.url, init, sent);
  }

  async #fetch(
    url: string,
    init: Omit<OutgoingInit, "headers"> & { headers?: Record<string, string> },
    { signal, headers: more = {} }: Sent,
  ): Promise<Response> {
    const own = new URL(url).origin === new URL(this.#config.url).origin;
    const headers = openHeaders(own ? (this.#config.headers ?? {}) : {}, this.#secrets);
    for (const [name, value] of Object.entries({
      ...more,
      ...init.headers,
      "a2a-version": "1.0",
    })) {
      headers.set(name, value);
    }
    let response: Response;
    try {
      const send = outgoingFetch(this.#dependencies);
      response = await send(url, { ...init, headers, redirect: "manual", signal });
    } catch (error) {
      throw this.#broken(error, url, signal);
    }
    if (response.ok) return response;
    throw await this.#refusal(response, url, signal);
  }

  /** A JSON-RPC error has a code, whatever the status. */
  async #refusal(response: Response, url: string, signal: AbortSignal): Promise<A2AError> {
    const { status, headers } = response;
    const text = await this.#text(response, signal).catch(() => "");
    const { retryable, ...outlook } = outlookOfStatus(status, headers);
    const code = retryable ? "a2a_connection" : "a2a_refused";
    const wait = retryable ? askedWaitText(outlook.retryAfterMs) : "";
    let said = text;
    let answered = status;
    try {
      const body: unknown = JSON.parse(text);
      if (isJsonObject(body) && isJsonObject(body.error)) {
        said = messageOf(body.error.message);
        if (typeof body.error.code === "number") answered = body.error.code;
      }
    } catch {
      // The body is an HTML page or plain text.
    }
    const message = `"${new URL(url).host}" answered HTTP ${status}: ${beginningOf(said, MOST_ERROR)}${wait}`;
    return new A2AError(code, message, { ...outlook, answered });
  }

  async #text(response: Response, signal: AbortSignal): Promise<string> {
    let text = "";
    for await (const piece of this.#pieces(response, signal)) text += piece;
    return this.#secrets.redact(text);
  }

  /** @throws A2AError when the response breaks off or is too long */
  async *#pieces(response: Response, signal: AbortSignal): AsyncGenerator<string, void, void> {
    if (response.body === null) return;
    const decoder = new TextDecoder();
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    // Not every runtime ends a body with the signal of its request.
    const cancel = (): void => void reader.cancel().catch(() => undefined);
    signal.addEventListener("abort", cancel);
    let left = MOST_BYTES;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        signal.throwIfAborted();
        if (done) return;
        left -= value.byteLength;
        if (left < 0) {
          throw new A2AError(
            "a2a_protocol",
            `The remote agent sent more than ${MOST_BYTES} bytes.`,
          );
        }
        yield decoder.decode(value, { stream: true });
      }
    } catch (error) {
      if (error instanceof TroupeError) throw error;
      throw this.#broken(error, response.url || this.#config.url, signal);
    } finally {
      signal.removeEventListener("abort", cancel);
      cancel();
    }
  }

  #broken(error: unknown, url: string, signal: AbortSignal): unknown {
    if (signal.aborted || error instanceof TroupeError) return error;
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    const said = this.#secrets.redact(errorMessage(cause));
    const message = `"${new URL(url).host}" cannot be reached: ${said}`;
    return new A2AError("a2a_connection", message, { unsent: isUnsent(error) });
  }
}

function messageOf(value: Json | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

function parse(text: string, url: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new A2AError(
      "a2a_protocol",
      `The answer of ${url} is not JSON: ${beginningOf(text, 200)}`,
    );
  }
}

/** @throws A2AError for an error */
function resultOf(response: unknown): unknown {
  if (isJsonObject(response)) {
    const error = typeof response.error === "string" ? { message: response.error } : response.error;
    if (isJsonObject(error)) {
      const { code, message } = error;
      const said = beginningOf(messageOf(message), MOST_ERROR);
      throw new A2AError(
        "a2a_refused",
        `The remote agent refuses: ${said}${code === undefined ? "" : ` (${messageOf(code)})`}`,
        typeof code === "number" ? { answered: code } : {},
      );
    }
    if (response.result !== undefined) return response.result;
  }
  throw new A2AError("a2a_protocol", "The remote agent's answer is not a JSON-RPC response.");
}
