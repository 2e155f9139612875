import * as z from "zod";
import { isServiceUrl } from "./service-url.ts";
import { TroupeError, ValueError } from "../../../core/errors.ts";
import { trimEnd } from "../../../core/text/trim-end.ts";
import { Redaction } from "../../../secrets/redaction.ts";
import { askedWaitText, isUnsent, outlookOfStatus } from "../../../outgoing/request-error.ts";
import { SandboxError } from "./sandbox-error.ts";
import { describeProblem, problemFrom, type SandboxProblem } from "./sandbox-problem.ts";
import { aFunction, aNumber, aText, type OptionsSchema } from "../../../core/options/options.ts";

/** The part of `fetch` that the client uses. */
export type SandboxFetch = (url: string, init: RequestInit) => Promise<Response>;

/** The address of a sandbox, and the means to reach it. */
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

export const sandboxAddressSchema = z.object({
  url: aText,
  apiKey: aText.optional(),
  fetch: aFunction.optional(),
  silenceMs: aNumber.optional(),
}) satisfies OptionsSchema<SandboxAddress>;

/** A request: the part of `RequestInit` that differs. `duplex` is what Node wants with a stream as the body. */
interface SandboxRequest {
  headers?: Record<string, string>;
  body?: string | ReadableStream<Uint8Array>;
}

/** Sends requests to a sandbox with its key, and turns refusals into errors. */
export class SandboxConnection {
  readonly #url: string;
  readonly #apiKey: string | undefined;
  readonly #fetch: SandboxFetch;

  /** @throws ValueError for an invalid `url` */
  constructor({ url, apiKey, fetch: ask }: SandboxAddress) {
    if (!isServiceUrl(url)) {
      const message = "must be an http:// or https:// URL without user, query and fragment";
      throw new ValueError(`the url of the sandbox ${message}`, {
        issues: [{ path: "url", message }],
      });
    }
    this.#url = trimEnd(url, "/");
    this.#apiKey = apiKey;
    this.#fetch = ask ?? ((address, init) => fetch(address, init));
  }

  /** @throws SandboxError for an error status; what `fetch` throws */
  async ask(
    method: string,
    path: string,
    signal: AbortSignal,
    { headers = {}, body }: SandboxRequest = {},
  ): Promise<Response> {
    const init: RequestInit & { duplex?: "half" } = {
      method,
      headers: {
        ...headers,
        ...(this.#apiKey !== undefined && { authorization: `Bearer ${this.#apiKey}` }),
      },
      ...(body !== undefined && { body }),
      // Node requires it.
      ...(body instanceof ReadableStream && { duplex: "half" }),
      // A redirect would send the key to another address.
      redirect: "manual",
      signal,
    };
    const response = await this.#fetch(this.#url + path, init);
    if (response.ok) return response;
    const problem = problemFrom(await response.text(), response.status);
    throw this.refusal({ ...problem, status: response.status }, response.headers);
  }

  /** The error for a problem of the sandbox. */
  refusal(problem: SandboxProblem, headers?: Headers): SandboxError {
    const { status, errors: issues = [], code: problemCode, retry_after: seconds } = problem;
    const { retryable, ...outlook } = outlookOfStatus(status, headers);
    const { retryAfterMs = seconds === undefined ? undefined : seconds * 1000 } = outlook;
    // A server may echo the key, which must not appear in errors.
    const secrets = new Redaction({ api_key: this.#apiKey });
    const message = secrets.redact(describeProblem(problem));
    return retryable
      ? unavailable(`answered ${message}${askedWaitText(retryAfterMs)}`, {
          ...outlook,
          retryAfterMs,
          status,
          problemCode,
        })
      : new SandboxError("sandbox_refused", `the sandbox refused: ${message}`, {
          status,
          issues,
          problemCode,
          detail: problem.detail === undefined ? undefined : secrets.redact(problem.detail),
        });
  }
}

/** The path of a session. */
export function sessionPath(session: string): string {
  return `/v1/sessions/${encodeURIComponent(session)}`;
}

/** The error for a failed request. The cause is for logs only: it may contain internal addresses. */
export function failure(error: unknown): TroupeError {
  if (error instanceof TroupeError) return error;
  const wrong = error instanceof SyntaxError || error instanceof z.ZodError;
  return unavailable(wrong ? "sent an invalid response" : "cannot be reached", {
    outage: !wrong,
    unsent: isUnsent(error),
    cause: error,
  });
}

/** The error of a sandbox that cannot be used at the moment. */
export function unavailable(
  what: string,
  options: ConstructorParameters<typeof SandboxError>[2] = {},
) {
  return new SandboxError("sandbox_unavailable", `the sandbox ${what}`, options);
}
