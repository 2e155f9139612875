import * as z from "zod";
import type { CodeBlock } from "../core/code/code-block.ts";
import { TroupeError, ValueError } from "../core/errors.ts";
import { retryAfter } from "../outgoing/retry-after.ts";
import { type ExecutionEnd, readExecution, type SandboxResult } from "./execution-stream.ts";
import { IdleTimeout } from "./idle-timeout.ts";
import { SandboxError } from "./sandbox-error.ts";
import { describeProblem, problemFrom, type SandboxProblem } from "./sandbox-problem.ts";
import { trimEnd } from "../core/text/trim-end.ts";

/** Four pings of the sandbox: without any of them nobody is there. */
const SILENCE_MS = 60_000;

/** For what is asked beside running code. */
const SHORT_MS = 10_000;

const languagesSchema = z.object({
  languages: z.array(
    z.object({ name: z.string(), aliases: z.array(z.string()), version: z.string() }),
  ),
});

/** A language that a sandbox runs; blocks name it by its name or an alias. */
export type SandboxLanguage = z.infer<typeof languagesSchema>["languages"][number];

/** As much of `fetch` as a sandbox is asked with. */
export type SandboxFetch = (url: string, init: RequestInit) => Promise<Response>;

/** Where a sandbox is, and how it is asked. */
export interface SandboxAddress {
  /** Of the service, without `/v1`. */
  url: string;
  /** Sent as bearer token. */
  apiKey?: string | undefined;
  /** Default: the global one. */
  fetch?: SandboxFetch | undefined;
  /** Milliseconds without a byte after which a sandbox that runs code counts as gone. Default: a minute. */
  silenceMs?: number | undefined;
}

/** Code to be run in a session. */
export interface Execution {
  blocks: readonly CodeBlock[];
  /** Seconds that each block may take. */
  timeoutSeconds: number;
  /** Who asks again under the same key gets the result there is, and no code runs twice. */
  key: string;
  signal: AbortSignal;
}

/** Speaks the protocol of docs/sandbox.md. */
export class SandboxClient {
  readonly #url: string;
  readonly #apiKey: string | undefined;
  readonly #fetch: SandboxFetch;
  readonly #silenceMs: number;

  /** @throws ValueError when `url` is no address of a service */
  constructor({ url, apiKey, fetch: ask, silenceMs = SILENCE_MS }: SandboxAddress) {
    if (!isServiceUrl(url)) {
      const message = "must be http:// or https://, without user, query and fragment";
      throw new ValueError(`the url of a sandbox ${message}`, {
        issues: [{ path: "url", message }],
      });
    }
    this.#url = trimEnd(url, "/");
    this.#apiKey = apiKey;
    this.#fetch = ask ?? ((address, init) => fetch(address, init));
    this.#silenceMs = silenceMs;
  }

  /**
   * Runs blocks in their order, up to the first that fails, and yields output as it comes.
   *
   * @throws SandboxError when there is no result, which says nothing about whether the code ran
   * @throws the signal's reason; the code goes on until {@link cancel}
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
    if (end === undefined) throw unavailable("broke off its answer");
    if ("problem" in end) throw this.#problem(end.problem);
    return end.result;
  }

  /** Stops an execution, which then ends with the result that it was cancelled. One that is over stays as it is. */
  async cancel(session: string, key: string): Promise<void> {
    await this.#delete(`${sessionPath(session)}/executions/${encodeURIComponent(key)}`);
  }

  /** Removes a session: what runs in it is stopped, its files and results are erased. */
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

  /** What is not there any more is deleted. @throws SandboxError */
  async #delete(path: string): Promise<void> {
    try {
      await this.#ask("DELETE", path, AbortSignal.timeout(SHORT_MS));
    } catch (error) {
      if (!(error instanceof SandboxError && error.status === 404)) throw failure(error);
    }
  }

  /** @throws SandboxError for an answer that is none; what `fetch` throws */
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
      // The key would go along to wherever it leads.
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
    // A server that echoes what it was sent must not show the key to whoever reads of the failure.
    const message = this.#apiKey ? said.replaceAll(this.#apiKey, "[redacted]") : said;
    return isPassing(status)
      ? unavailable(`answered ${message}`, { status, retryAfterMs })
      : new SandboxError("sandbox_refused", `the sandbox refused: ${message}`, { status, issues });
  }
}

function sessionPath(session: string): string {
  return `/v1/sessions/${encodeURIComponent(session)}`;
}

/** Whether a text is the address of a service: http or https, without user, query and fragment. */
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

/** The cause is for logs: it may name addresses that users of the service have no business to know. */
function failure(error: unknown): TroupeError {
  if (error instanceof TroupeError) return error;
  const wrong = error instanceof SyntaxError || error instanceof z.ZodError;
  return unavailable(wrong ? "answered what no sandbox says" : "cannot be reached", {
    cause: error,
  });
}

function unavailable(what: string, options: ConstructorParameters<typeof SandboxError>[2] = {}) {
  return new SandboxError("sandbox_unavailable", `the sandbox ${what}`, options);
}

function inMilliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}
