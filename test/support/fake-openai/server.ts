import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { anthropicFormat } from "./anthropic/format.ts";
import { parseAnthropicRequest } from "./anthropic/request.ts";
import { type AnswerFormat, errorBody, openAIFormat } from "./answer-format.ts";
import { answer, sendJson } from "./answer.ts";
import { type ChatRequest, parseChatRequest } from "./chat-request.ts";
import { control } from "./control.ts";
import { ollamaFormat, parseOllamaRequest } from "./ollama.ts";
import { type CacheUse, ClaudePromptCache, OpenAIPromptCache } from "./prompt-cache.ts";
import { parseMakerRequest } from "./makers/request.ts";
import { parseOpenAIRequest } from "./openai-request.ts";
import type { Refusal } from "./refusal.ts";
import { type RecordedRequest, RequestLog } from "./request-log.ts";
import { responsesFormat } from "./responses/format.ts";
import { parseResponsesRequest } from "./responses/request.ts";
import { RuleBook } from "./rule-book.ts";
import type { RuleInput } from "./rule.ts";
import { parseWorkersAIRequest, workersAIFormat } from "./workers-ai.ts";

export interface FakeOpenAIOptions {
  rules?: readonly RuleInput[];
  /** Default: any free port. */
  port?: number;
  /** Requests must carry this key. Default: any key will do, none will not. */
  apiKey?: string;
  /** How the server answers to `/responses`, where it does not have that API. */
  withoutResponses?: 404 | 405 | 501;
  /** Whether it has the prompt cache of the maker, and at what time (epoch milliseconds) each request comes. */
  caches?: { now: () => number; onUse?: (use: CacheUse) => void };
  /** False keeps neither bodies nor headers: for measurements. */
  record?: boolean;
}

/** A maker's way of asking and answering. */
interface Api {
  path: RegExp;
  parse(body: unknown, request: IncomingMessage): ChatRequest | Refusal;
  format: AnswerFormat;
  /** The header with the key, before others that have it. */
  keyHeader: string;
  /** Whether requests without a key are answered. */
  keyless?: true;
  /** What is wrong with a request besides its body. */
  problem?(request: IncomingMessage, url: URL): Refusal | undefined;
}

const APIS: readonly Api[] = [
  {
    // Gemini's and OpenRouter's servers have paths of their own.
    path: /^(\/api)?\/v1\/chat\/completions$|^\/v1beta\/openai\/chat\/completions$/,
    parse: parseMakerRequest,
    format: openAIFormat,
    keyHeader: "authorization",
  },
  {
    path: /^\/openai\/deployments\/[^/]+\/chat\/completions$/,
    parse: parseOpenAIRequest,
    format: openAIFormat,
    keyHeader: "api-key",
    problem: (_, url) =>
      url.searchParams.has("api-version") ? undefined : { problem: "api-version is missing" },
  },
  {
    path: /^\/v1\/responses$/,
    parse: parseResponsesRequest,
    format: responsesFormat,
    keyHeader: "authorization",
  },
  // https://learn.microsoft.com/azure/foundry/openai/api-version-lifecycle: since 2025 with a version, and without one.
  {
    path: /^\/openai\/responses$/,
    parse: parseResponsesRequest,
    format: responsesFormat,
    keyHeader: "api-key",
    problem: (_, url) =>
      (url.searchParams.get("api-version") ?? "") >= "2025-03-01"
        ? undefined
        : { status: 404, problem: "Resource not found" },
  },
  {
    path: /^\/openai\/v1\/responses$/,
    parse: parseResponsesRequest,
    format: responsesFormat,
    keyHeader: "api-key",
  },
  {
    path: /^\/api\/chat$/,
    parse: parseOllamaRequest,
    format: ollamaFormat,
    keyHeader: "authorization",
    keyless: true,
  },
  {
    path: /^\/run$/,
    parse: (body, request) => parseWorkersAIRequest(body, header(request, "cf-consn-model-id")),
    format: workersAIFormat,
    keyHeader: "authorization",
    keyless: true,
  },
  {
    path: /^\/v1\/messages$/,
    parse: parseAnthropicRequest,
    format: anthropicFormat,
    keyHeader: "x-api-key",
    problem: (request) =>
      header(request, "anthropic-version") === undefined
        ? { problem: "anthropic-version: header is required" }
        : undefined,
  },
];

/**
 * A server that speaks OpenAI's chat completions and responses, Anthropic's messages, Ollama's chat and what the `AI` binding of a Worker sends, over
 * real HTTP. It answers by the content of a request, so the same request always gets the same answer, and refuses what the real ones would refuse. Rules add replies, waits and faults.
 */
export class FakeOpenAI {
  readonly log = new RequestLog();
  readonly rules = new RuleBook();
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #apiKey: string | undefined;
  readonly #record: boolean;
  readonly #caches: FakeOpenAIOptions["caches"];
  readonly #claude = new ClaudePromptCache();
  readonly #openai = new OpenAIPromptCache();
  readonly #withoutResponses: FakeOpenAIOptions["withoutResponses"];
  #origin = "";

  constructor(options: FakeOpenAIOptions) {
    this.#apiKey = options.apiKey;
    this.#record = options.record ?? true;
    this.#caches = options.caches;
    this.#withoutResponses = options.withoutResponses;
    this.rules.set(options.rules ?? []);
  }

  /** Base URL for OpenAI clients, with `/v1`. */
  get url(): string {
    return `${this.#origin}/v1`;
  }

  /** Without a path: what Azure calls the endpoint and Ollama the host; `/control` stands under it, too. */
  get origin(): string {
    return this.#origin;
  }

  get requests(): readonly RecordedRequest[] {
    return this.log.requests;
  }

  /** Lets go the requests that the rule holds, and those to come. */
  release(name: string): void {
    this.rules.release(name);
  }

  /** Waits until the rule holds that many requests at once. */
  async held(name: string, count = 1): Promise<void> {
    await this.log.until(
      (requests) =>
        requests.filter((request) => request.rule === name && request.state === "held").length >=
        count,
    );
  }

  /** Waits until no request is held or being answered. */
  async idle(): Promise<void> {
    await this.log.until((requests) => requests.every((request) => request.ended_at !== null));
  }

  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, "127.0.0.1", resolve);
    });
    this.#origin = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    const ended = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://fake");
    try {
      const text = await bodyText(request);
      await (url.pathname.startsWith("/control/")
        ? control(this, request.method ?? "GET", url, text, response)
        : this.#complete(request, url, text, response));
    } catch (error) {
      // The client is gone, or there is a mistake in this server; either way no client may wait for the rest.
      if (response.headersSent || response.destroyed) response.destroy();
      else sendJson(response, 500, errorBody(String(error), "fake_server", null));
    }
  }

  async #complete(
    request: IncomingMessage,
    url: URL,
    text: string,
    response: ServerResponse,
  ): Promise<void> {
    const body = parseJson(text);
    const recorded = this.log.add({
      path: url.pathname + url.search,
      idempotency_key: header(request, "idempotency-key") ?? null,
      headers: this.#record ? request.headers : {},
      body: this.#record ? body : undefined,
      rule: null,
      state: "open",
      status: null,
      chunks: 0,
      received_at: Date.now(),
      ended_at: null,
    });
    const gone = new AbortController();
    response.once("close", () => {
      this.log.update(recorded, {
        state: response.writableFinished ? "done" : "aborted",
        status: response.headersSent ? response.statusCode : null,
        ended_at: Date.now(),
      });
      gone.abort();
    });

    const api = APIS.find(({ path }) => path.test(url.pathname));
    const format = api?.format ?? openAIFormat;
    const refusal = this.#refusal(request, url, body, api);
    if (refusal !== undefined) {
      const { status, message, code } = refusal;
      sendJson(response, status, format.error(message, "fake_server", code));
      return;
    }
    const chat: ChatRequest | Refusal = (api?.parse ?? parseChatRequest)(body, request);
    if ("problem" in chat) {
      const { problem, status = 400, code = null, param } = chat;
      const message = `The fake server refuses this request: ${problem}`;
      sendJson(response, status, format.error(message, "invalid_request_error", code, param));
      return;
    }

    const rule = this.rules.take(chat);
    this.log.update(recorded, { rule: rule?.name ?? null, state: "open" });
    const pass = async (chunks: number): Promise<void> => {
      const gate = rule && this.rules.gate(rule, chunks);
      if (gate === undefined) return;
      this.log.update(recorded, { state: "held" });
      await Promise.race([gate, aborted(gone.signal)]);
      if (!gone.signal.aborted) this.log.update(recorded, { state: "open" });
    };
    await pass(0);
    if (gone.signal.aborted) return;
    if (rule !== undefined && rule.delay_ms > 0)
      await sleep(rule.delay_ms, undefined, { signal: gone.signal });
    const cache = format === anthropicFormat ? this.#claude : this.#openai;
    const use = this.#caches && cache.use(body, this.#caches.now());
    if (use !== undefined) this.#caches?.onUse?.(use);
    await answer(chat, rule, {
      response,
      format,
      cache: use,
      signal: gone.signal,
      onChunks: (chunks) => this.log.update(recorded, { chunks }),
      pass,
    });
  }

  #refusal(
    request: IncomingMessage,
    url: URL,
    body: unknown,
    api: Api | undefined,
  ): { status: number; message: string; code: string | null } | undefined {
    const bad = (message: string, status = 400) => ({ status, message, code: null });
    if (this.#withoutResponses !== undefined && url.pathname.endsWith("/responses"))
      return bad(`The fake server has no ${url.pathname}`, this.#withoutResponses);
    if (request.method !== "POST" || api === undefined)
      return bad(`The fake server does not know ${request.method} ${url.pathname}`);
    const problem = api.problem?.(request, url);
    if (problem !== undefined) return bad(problem.problem, problem.status);
    const key = header(request, api.keyHeader) ?? header(request, "authorization");
    const bare = key?.replace(/^Bearer /, "");
    const missing = (bare === undefined || bare === "") && api.keyless !== true;
    if (missing || (this.#apiKey !== undefined && bare !== this.#apiKey))
      return { status: 401, message: `Incorrect API key: ${bare}`, code: "invalid_api_key" };
    if (!(header(request, "content-type") ?? "").startsWith("application/json"))
      return bad("content-type is not application/json");
    if (body === undefined) return bad("The body is not JSON");
    if (!isWellFormed(body))
      return bad("The request body is not valid JSON: no low surrogate in string");
    return undefined;
  }
}

/**
 * Starts a fake OpenAI on the loopback interface.
 *
 * @example
 * await using fake = await startFakeOpenAI({
 *   rules: [{ name: "hi", match: { text: "hello" }, reply: { content: "Hi!" } }],
 * });
 * const client = new OpenAI({ baseURL: fake.url, apiKey: "any" });
 */
export async function startFakeOpenAI(options: FakeOpenAIOptions = {}): Promise<FakeOpenAI> {
  const fake = new FakeOpenAI(options);
  await fake.listen(options.port ?? 0);
  return fake;
}

async function bodyText(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}

/**
 * Whether no text has half of a character, also as an escape in arguments of calls, which servers parse
 * (https://github.com/anthropics/claude-code/issues/68325).
 */
function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(
    ([name, inner]: [string, unknown]) =>
      name.isWellFormed() &&
      isWellFormed(inner) &&
      (name !== "arguments" || typeof inner !== "string" || isWellFormed(parseJson(inner))),
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) =>
    signal.addEventListener("abort", () => resolve(), { once: true }),
  );
}
