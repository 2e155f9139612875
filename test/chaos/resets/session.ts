import { setTimeout as sleep } from "node:timers/promises";
import type { ComponentModel, JsonObject } from "troupe";
import type { FakeOpenAI } from "../../support/fake-openai/server.ts";
import { UnexpectedAnswer } from "../harness/api.ts";
import { readStream } from "../harness/sse-client.ts";
import { OPERATOR_KEY } from "../harness/trial.ts";
import { component, modelClient } from "../scenarios/components.ts";

/** An answer that is asked for again does not wait as long as Retry-After says. */
const AGAIN_MS = 30;
/** An object that is reset is back at once; a machine under load may take its time. */
export const PATIENCE_MS = 120_000;

export interface SessionOptions {
  tenant: string;
  origin: () => string;
  fake: Pick<FakeOpenAI, "url">;
  /** The address of a server that embeds texts. */
  embeddings: string;
  /** The operator's key without it. */
  credential?: string;
}

/**
 * A client of one tenant. What it asks is answered as expected or with 503 and `Retry-After`, and is asked again then; any
 * other answer is a fault of the service.
 */
export class Session {
  readonly tenant: string;
  readonly options: SessionOptions;
  /** Answers with 503. */
  refusals = 0;

  constructor(options: SessionOptions) {
    this.options = options;
    this.tenant = options.tenant;
  }

  get<T>(path: string): Promise<T> {
    return this.call("GET", path, undefined, [200]);
  }

  /** Creates something, once however often it is asked for. */
  post<T>(path: string, body: object): Promise<T> {
    return this.call("POST", path, body, [200, 201, 202]);
  }

  put<T>(path: string, body: object): Promise<T> {
    return this.call("PUT", path, body, [200, 201, 202]);
  }

  /** An answer that was lost leaves nothing to delete. */
  async delete(path: string): Promise<void> {
    const before = this.refusals;
    await this.call("DELETE", path, undefined, [202, 204, 404], (status) =>
      status === 404 && this.refusals === before ? "nothing was there" : undefined,
    );
  }

  /** Waits until what is found under a path is gone. */
  async untilGone(path: string): Promise<void> {
    const isGone = async (): Promise<boolean> =>
      (await this.call<JsonObject>("GET", path, undefined, [200, 404])).status === 404;
    await this.until(`${path} is gone`, isGone);
  }

  /** Waits until it is so. @param found what is so instead, for the error */
  async until(
    what: string,
    isSo: () => Promise<boolean>,
    found: () => string = () => "",
  ): Promise<void> {
    for (const end = performance.now() + PATIENCE_MS; ; await sleep(AGAIN_MS)) {
      if (await isSo()) return;
      if (performance.now() > end) throw new Error(`it did not come about that ${what} ${found()}`);
    }
  }

  /** @param body an object is sent as JSON, a text as it is */
  async call<T>(
    method: string,
    path: string,
    body: object | string | undefined,
    expected: readonly number[],
    problem?: (status: number) => string | undefined,
  ): Promise<T> {
    const text = await this.#ask(method, path, body, expected, problem);
    return (text === "" ? {} : JSON.parse(text)) as T;
  }

  text(path: string): Promise<string> {
    return this.#ask("GET", path, undefined, [200]);
  }

  /** Reads one connection of a stream to its end. */
  stream(path: string, options: Omit<Parameters<typeof readStream>[1], "post">): Promise<number> {
    return readStream(`${this.#origin}${path}`, { ...options, headers: this.#headers(path) });
  }

  /** A connection that broke, or was refused for the moment. @throws any other error */
  refusedOrBroken(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (/ answered (?!503)\d/.test(message)) throw error;
    this.refusals++;
  }

  /** An answer that passes. @throws UnexpectedAnswer for any other */
  passed({ status, headers, url }: Response, text: string): void {
    this.refusals++;
    // A page that was used is not found again.
    if ((status === 503 && headers.has("retry-after")) || status === 404 || status === 410) return;
    throw new UnexpectedAnswer(`${url} answered ${status}: ${text.slice(0, 500)}`);
  }

  get #origin(): string {
    return `${this.options.origin()}/v1`;
  }

  #headers(path: string): Record<string, string> {
    return {
      authorization: `Bearer ${this.options.credential ?? OPERATOR_KEY}`,
      // As the operator of all tenants, or as one of this tenant's.
      ...(this.options.credential === undefined &&
        !path.startsWith("/tenants") && { "troupe-tenant": this.tenant }),
    };
  }

  /** Sends one request. */
  ask(
    method: string,
    path: string,
    body?: object | string,
    key: string = crypto.randomUUID(),
  ): Promise<Response> {
    return fetch(`${this.#origin}${path}`, {
      method,
      headers: {
        ...this.#headers(path),
        ...(typeof body === "object" && { "content-type": "application/json" }),
        ...(typeof body === "string" && { "content-type": "application/x-ndjson" }),
        ...(method === "POST" && { "idempotency-key": key }),
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
  }

  async #ask(
    method: string,
    path: string,
    body: object | string | undefined,
    expected: readonly number[],
    problem: (status: number) => string | undefined = () => undefined,
  ): Promise<string> {
    const key = crypto.randomUUID();
    for (const end = performance.now() + PATIENCE_MS; ; await sleep(AGAIN_MS)) {
      const response = await this.ask(method, path, body, key);
      const { status, headers } = response;
      const text = await response.text();
      const wrong = problem(status);
      if (expected.includes(status) && wrong === undefined) return text;
      const passes = status === 503 && headers.has("retry-after") && performance.now() < end;
      if (!passes) {
        throw new UnexpectedAnswer(
          `${method} /v1${path} answered ${status}${wrong ? ` (${wrong})` : ""}: ${text.slice(0, 500)}`,
        );
      }
      this.refusals++;
    }
  }

  get modelClient(): ComponentModel {
    return modelClient({ model: this.options.fake.url });
  }

  get embedding(): ComponentModel {
    return component("troupe.embeddings.OpenAIEmbeddingClient", {
      model: "small",
      base_url: this.options.embeddings,
      api_key: "key",
    });
  }
}
