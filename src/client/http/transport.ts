import { trimEnd } from "../../core/text/trim-end.ts";
import { ApiError, ConnectionError } from "./errors.ts";
import type { FileContent } from "./wire.ts";

/** The address, credential and options of a client's requests. */
export interface TransportOptions {
  /** The server's URL, such as `https://troupe.example.com`, with the path under which Troupe is mounted, if any. */
  baseURL: string;
  /**
   * A key or token, or a function that returns one and is called for each request. If it throws, the request fails like one
   * whose server cannot be reached.
   */
  token?: string | (() => string | Promise<string>) | undefined;
  /** Sends the requests. Default: the global one. */
  fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** Retries of a request that got no response, 429 or 503, if the request may be repeated. Default 2. */
  maxRetries?: number | undefined;
}

/** One request. */
export interface Call {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | undefined;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent unchanged instead of a `body`. */
  content?: FileContent | undefined;
  query?: { readonly [name: string]: string | number | undefined } | undefined;
  headers?: { readonly [name: string]: string | undefined };
  signal?: AbortSignal | undefined;
  /** Sends an `Idempotency-Key`, so that the request may be repeated; `true` generates one. */
  idempotencyKey?: string | true | undefined;
}

/** Options of a call. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** Repeating a call with the same key and body returns the same response. Default: a new key for each call. */
  idempotencyKey?: string | undefined;
}

/** With the type of refusals: a client that accepts nothing but a stream gets an empty one in place of 429 and 503. */
export const EVENT_STREAM = { accept: "text/event-stream, application/problem+json" };

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 15_000;
/** The longest wait before a retry that the client accepts from the server. Longer ones, such as for a monthly token limit,
 * are left to the caller. */
const LONGEST_WAIT_MS = 60_000;

/** An event that ends a pause early. */
export interface Wake {
  target: EventTarget;
  type: string;
}

/** Sends requests, and repeats those that may be repeated. */
export class Transport {
  /** Emits an event named by a team's id after a call that the team's streams wait for. */
  readonly wakes: EventTarget = new EventTarget();
  readonly #options: TransportOptions;
  readonly #base: string;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#base = trimEnd(options.baseURL, "/");
  }

  /** The response's JSON; undefined if it is empty. @throws ApiError | ConnectionError */
  async json<T>(path: string, call: Call = {}): Promise<T> {
    const response = await this.send(path, call);
    try {
      const text = await response.text();
      return (text === "" ? undefined : JSON.parse(text)) as T;
    } catch (error) {
      if (call.signal?.aborted) throw error;
      throw new ConnectionError(
        `${path}: the response is cut off or did not come from Troupe`,
        error,
      );
    }
  }

  /** Creates something exactly once, even if the request is repeated. @throws ApiError | ConnectionError */
  post<T>(path: string, body: object, { signal, idempotencyKey }: CallOptions): Promise<T> {
    const key = idempotencyKey ?? true;
    return this.json(path, { method: "POST", body, idempotencyKey: key, signal });
  }

  /** @throws ApiError | ConnectionError */
  async send(path: string, call: Call = {}): Promise<Response> {
    const { method = "GET", signal, idempotencyKey } = call;
    const key = idempotencyKey === true ? randomKey() : idempotencyKey;
    const repeatable = method !== "POST" || key !== undefined;
    for (let attempt = 0; ; attempt++) {
      const last = !repeatable || attempt >= (this.#options.maxRetries ?? 2);
      try {
        return await this.#sendOnce(path, call, key);
      } catch (error) {
        if (last || !isTemporary(error) || signal?.aborted) throw error;
        const wait = (error instanceof ApiError ? error.retryAfter : undefined) ?? delay(attempt);
        if (wait > LONGEST_WAIT_MS) throw error;
        await pause(wait, signal);
      }
    }
  }

  /** Opens a stream of server-sent events that continues after the last id. @throws ApiError | ConnectionError */
  stream(
    path: string,
    lastId: string | undefined,
    signal: AbortSignal,
    query?: Call["query"],
  ): Promise<Response> {
    const headers = { ...EVENT_STREAM, "last-event-id": lastId };
    return this.send(path, { headers, signal, query });
  }

  async #sendOnce(path: string, call: Call, key: string | undefined): Promise<Response> {
    const { method = "GET", body, content, query = {}, signal } = call;
    const { fetch = globalThis.fetch } = this.#options;
    const url = new URL(this.#base + path);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const credential = await this.#credential();
    const given = {
      authorization: credential === undefined ? undefined : `Bearer ${credential}`,
      "content-type": body === undefined ? undefined : "application/json",
      "idempotency-key": key,
      ...call.headers,
    };
    const headers = new Headers();
    for (const [name, value] of Object.entries(given)) {
      if (value !== undefined) headers.set(name, value);
    }
    const request = new Request(url, {
      method,
      headers,
      body: body === undefined ? (content ?? null) : JSON.stringify(body),
      signal: signal ?? null,
    });
    let response: Response;
    try {
      response = await fetch(request);
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new ConnectionError(`${method} ${url.pathname}: the server cannot be reached`, error);
    }
    if (response.ok) return response;
    throw await refusal(response, `${method} ${url.pathname}`);
  }

  async #credential(): Promise<string | undefined> {
    const { token } = this.#options;
    if (typeof token !== "function") return token;
    try {
      return await token();
    } catch (error) {
      throw new ConnectionError("the token function threw", error);
    }
  }
}

/**
 * Resolves after the milliseconds, or at one of the events.
 *
 * @throws the signal's reason when it is aborted first
 */
export async function pause(
  ms: number,
  signal: AbortSignal | undefined,
  wakes: readonly Wake[] = [],
): Promise<void> {
  await new Promise<void>((resolve) => {
    const pausing = new AbortController();
    const done = (): void => {
      clearTimeout(timer);
      pausing.abort();
      resolve();
    };
    const timer = setTimeout(done, ms);
    const ends = signal ? [...wakes, { target: signal, type: "abort" }] : wakes;
    for (const { target, type } of ends) {
      target.addEventListener(type, done, { signal: pausing.signal });
    }
    if (signal?.aborted) done();
  });
  signal?.throwIfAborted();
}

/** Milliseconds before the next attempt: doubled each time, with jitter. */
export function delay(attempt: number): number {
  const most = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt);
  return most * (0.5 + Math.random() / 2);
}

/** True if the same request may succeed later. */
export function isTemporary(error: unknown): boolean {
  if (error instanceof ApiError) {
    return error.repeatable && [429, 502, 503, 504].includes(error.status);
  }
  return error instanceof ConnectionError;
}

async function refusal(response: Response, what: string): Promise<Error> {
  const { status, headers } = response;
  const text = await response.text().catch(() => "");
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  const retryAfter = Number.isNaN(seconds) ? undefined : seconds * 1000;
  try {
    const problem = JSON.parse(text) as ApiError["problem"];
    const repeatable = headers.get("x-should-retry") !== "false";
    if (typeof problem.code === "string") return new ApiError(problem, retryAfter, repeatable);
  } catch {
    // The response did not come from Troupe, but perhaps from a proxy.
  }
  const code = "unexpected_response";
  const detail = `${what}: the server answered ${status} without a problem document`;
  return new ApiError({ type: "about:blank", title: detail, status, detail, code }, retryAfter);
}

/** A unique key. Pages from another machine over plain HTTP have no `crypto.randomUUID`. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
