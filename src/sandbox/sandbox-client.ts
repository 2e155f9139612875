import * as z from "zod";
import type { CodeBlock } from "../core/code/code-block.ts";
import { TroupeError, ValueError } from "../core/errors.ts";
import { retryAfter } from "../outgoing/retry-after.ts";
import { type ExecutionEnd, readExecution, type SandboxResult } from "./execution-stream.ts";
import { IdleTimeout } from "./idle-timeout.ts";
import { SandboxError } from "./sandbox-error.ts";
import { describeProblem, problemFrom, type SandboxProblem } from "./sandbox-problem.ts";
import { trimEnd } from "../core/text/trim-end.ts";

/** Four pings of the sandbox; without any, the connection counts as lost. */
const SILENCE_MS = 60_000;

/** Time limit of requests that do not run code. */
const SHORT_MS = 10_000;

const languagesSchema = z.object({
  languages: z.array(
    z.object({ name: z.string(), aliases: z.array(z.string()), version: z.string() }),
  ),
});

/** A language that a sandbox runs; blocks name it by its name or an alias. */
export type SandboxLanguage = z.infer<typeof languagesSchema>["languages"][number];

/** The part of `fetch` that the client uses. */
export type SandboxFetch = (url: string, init: RequestInit) => Promise<Response>;

/** The address of a sandbox, and how to reach it. */
export interface SandboxAddress {
  /** URL of the service, without `/v1`. */
  url: string;
  /** The bearer key. */
  apiKey?: string | undefined;
  /** Default: the global `fetch`. */
  fetch?: SandboxFetch | undefined;
  /** Milliseconds without a byte after which the connection counts as lost. Default: a minute. */
  silenceMs?: number | undefined;
}

/** A request to run code. */
export interface Execution {
  blocks: readonly CodeBlock[];
  /** The time limit of each block in seconds. */
  timeoutSeconds: number;
  /** The idempotency key: a repeated request gets the recorded result, and code does not run twice. */
  key: string;
  signal: AbortSignal;
}

/** A client of the sandbox protocol (docs/sandbox.md). */
export class SandboxClient {
  readonly #url: string;
  readonly #apiKey: string | undefined;
  readonly #fetch: SandboxFetch;
  readonly #silenceMs: number;

  /** @throws ValueError for an invalid `url` */
  constructor({ url, apiKey, fetch: ask, silenceMs = SILENCE_MS }: SandboxAddress) {
    if (!isServiceUrl(url)) {
      const message = "must be an http:// or https:// URL without user, query and fragment";
      throw new ValueError(`the url of the sandbox ${message}`, {
        issues: [{ path: "url", message }],
      });
    }
    this.#url = trimEnd(url, "/");
    this.#apiKey = apiKey;
    this.#fetch = ask ?? ((address, init) => fetch(address, init));
    this.#silenceMs = silenceMs;
  }

  /**
   * Runs blocks in order until one fails, and yields output as it arrives.
   *
   * @throws SandboxError when there is no result; the code may have run nevertheless
   * @throws the signal's reason; the code continues until {@link cancel}
   */
  async *execute(
    session: string,
    { blocks, timeoutSeconds, key, signal }: Execution,
  ): AsyncGenerator<string, SandboxResult, void> {
    const timeout = new IdleTimeout(this.#silenceMs, signal);
    let end: ExecutionEnd | undefined;
    try {
      const response = await timeout.wait(
        this.#ask("POST", `${sessionPath(session)}/execute`, timeout.signal, {
          headers: {
            accept: "text/event-stream",
            "content-type": "application/json",
            "idempotency-key": key,
          },
          body: JSON.stringify({
            code_blocks: blocks.map(({ language, code }) => ({ language, code })),
            timeout_seconds: timeoutSeconds,
          }),
        }),
      );
      if (response.body !== null) end = yield* readExecution(response.body, timeout);
    } catch (error) {
      signal.throwIfAborted();
      if (timeout.expired) throw unavailable(`sent nothing for ${this.#silenceMs / 1000} seconds`);
      throw failure(error);
    }
    if (end === undefined) throw unavailable("closed the connection before the result");
    if ("problem" in end) throw this.#problem(end.problem);
    return end.result;
  }

  /** Cancels an execution, if it has not ended. */
  async cancel(session: string, key: string): Promise<void> {
    await this.#delete(`${sessionPath(session)}/executions/${encodeURIComponent(key)}`);
  }

  /** Deletes a session: stops its code, deletes its files and results. */
  async deleteSession(session: string): Promise<void> {
    await this.#delete(sessionPath(session));
  }

  /** @throws SandboxError */
  async languages(): Promise<SandboxLanguage[]> {
    const signal = AbortSignal.timeout(SHORT_MS);
    try {
      const response = await this.#ask("GET", "/v1/languages", signal);
      return languagesSchema.parse(await response.json()).languages;
    } catch (error) {
      throw failure(error);
    }
  }

  /** Accepts a 404. @throws SandboxError */
  async #delete(path: string): Promise<void> {
    try {
      await this.#ask("DELETE", path, AbortSignal.timeout(SHORT_MS));
    } catch (error) {
      if (!(error instanceof SandboxError && error.status === 404)) throw failure(error);
    }
  }

  /** @throws SandboxError for an error status; what `fetch` throws */
  async #ask(
    method: string,
    path: string,
    signal: AbortSignal,
    { headers = {}, body }: { headers?: Record<string, string>; body?: string } = {},
  ): Promise<Response> {
    const response = await this.#fetch(this.#url + path, {
      method,
      headers: {
        ...headers,
        ...(this.#apiKey !== undefined && { authorization: `Bearer ${this.#apiKey}` }),
      },
      ...(body !== undefined && { body }),
      // A redirect would send the key to another address.
      redirect: "manual",
      signal,
    });
    if (response.ok) return response;
    const problem = problemFrom(await response.text(), response.status);
    throw this.#problem({ ...problem, status: response.status }, retryAfter(response.headers));
  }

  #problem(problem: SandboxProblem, retryAfterMs = inMilliseconds(problem.retry_after)) {
    const { status, errors: issues = [] } = problem;
    const said = describeProblem(problem);
    // A server may echo the key, which must not appear in errors.
    const message = this.#apiKey ? said.replaceAll(this.#apiKey, "[redacted]") : said;
    return isPassing(status)
      ? unavailable(`answered ${message}`, { status, retryAfterMs })
      : new SandboxError("sandbox_refused", `the sandbox refused: ${message}`, { status, issues });
  }
}

function sessionPath(session: string): string {
  return `/v1/sessions/${encodeURIComponent(session)}`;
}

/** Whether a text is a valid service URL: http or https, without user, query and fragment. */
export function isServiceUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return (
    /^https?:$/.test(protocol) && [username, password, search, hash].every((part) => part === "")
  );
}

function isPassing(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status !== 501);
}

/** The cause is for logs only: it may contain internal addresses. */
function failure(error: unknown): TroupeError {
  if (error instanceof TroupeError) return error;
  const wrong = error instanceof SyntaxError || error instanceof z.ZodError;
  return unavailable(wrong ? "sent an invalid response" : "cannot be reached", {
    cause: error,
  });
}

function unavailable(what: string, options: ConstructorParameters<typeof SandboxError>[2] = {}) {
  return new SandboxError("sandbox_unavailable", `the sandbox ${what}`, options);
}

function inMilliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}
