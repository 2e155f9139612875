import { TroupeError } from "../core/errors.ts";
import type { Log, LogEntry } from "../core/log.ts";
import type { OutgoingDependencies } from "./dependencies.ts";
import {
  checkEgress,
  checkReferral,
  EgressError,
  type EgressRules,
  names,
  parseTarget,
  plainHost,
  type Reach,
} from "./egress.ts";
import { isAddress, isLoopbackHost } from "./public-hosts.ts";

/** The most bytes of an answer whose reader has no limit of its own. */
export const MOST_ANSWER_BYTES = 16 * 1024 * 1024;

/** The time for a request without a signal, with its answer. */
const MOST_MS = 60_000;

/** Options of an outgoing request, beside those of `fetch`. */
export interface OutgoingInit extends RequestInit {
  /**
   * Bytes of the answer; `own` if the caller counts those of a good answer itself. Default: {@link MOST_ANSWER_BYTES}.
   */
  limit?: number | "own";
  /**
   * The address of the document that named the URL; null for a URL that a client sent. Its host must not be a loopback or private
   * address, whatever name it has, unless the settings name it or the document is of the same server.
   */
  namedBy?: string | null;
  /**
   * True if the request must not reach the server twice. If the host can, it then says of a failure that no connection was
   * made ({@link NoConnectionError}).
   */
  once?: boolean;
}

/** Sends an outgoing request. */
export type OutgoingFetch = (
  input: string | URL | Request,
  init?: OutgoingInit,
) => Promise<Response>;

/** An answer above a limit. Trying again does not help. */
export class AnswerTooLargeError extends TroupeError {
  readonly retryable = false;

  /** @param answer what is too large: `The answer of "api.example.com"` */
  constructor(answer: string, limit: number) {
    super("answer_too_large", `${answer} is larger than ${limit} bytes, the most that is read`);
  }
}

/** A `fetch` whose answers have a limit of size, and whose requests have one of time. */
function limitedFetch(send: OutgoingFetch): OutgoingFetch {
  return async (input, { limit = MOST_ANSWER_BYTES, ...init } = {}) => {
    const own = init.signal ?? (input instanceof Request ? input.signal : undefined);
    const response = await send(input, { ...init, signal: own ?? AbortSignal.timeout(MOST_MS) });
    if (limit === "own" && response.ok) return response;
    const { host } = new URL(input instanceof Request ? input.url : input);
    return limited(response, host, limit === "own" ? MOST_ANSWER_BYTES : limit);
  };
}

/**
 * Reads only on demand: a pipe would continue when its reader stops.
 *
 * @throws AnswerTooLargeError, also from the body
 */
async function limited(response: Response, host: string, limit: number): Promise<Response> {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  const tooLarge = (): AnswerTooLargeError =>
    new AnswerTooLargeError(`The answer of "${host}"`, limit);
  const announced = headers.get("content-length");
  if (announced !== null && Number(announced) > limit) {
    await body.cancel().catch(() => undefined);
    throw tooLarge();
  }
  // The connection ends such a body. A compressed one has more bytes than it announces.
  if (announced !== null && !headers.has("content-encoding")) return response;
  const reader = body.getReader();
  let left = limit;
  const counted = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        left -= value.byteLength;
        if (left >= 0) return controller.enqueue(value);
        await reader.cancel().catch(() => undefined);
        throw tooLarge();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    // The stream reads nothing before its reader does.
    { highWaterMark: 0 },
  );
  return new Response(counted, { status, statusText, headers });
}

/**
 * A `fetch` that keeps to the rules and to the limits of outgoing requests. Redirects are not followed: their targets were
 * never checked, and headers with secrets would be sent along.
 *
 * @param send for addresses, and for names where nothing resolves them before
 * @param log gets an entry for every refusal
 * @param sendTo for names: resolves them and keeps to the addresses that are allowed
 * @throws EgressError from the returned function
 */
export function guardedFetch(
  rules: EgressRules,
  send: typeof fetch = fetch,
  log?: Log,
  sendTo: (reach: Reach) => typeof fetch = () => send,
): OutgoingFetch {
  const guarded = limitedFetch(obeying(rules, send, sendTo));
  const logged: OutgoingFetch = async (input, init) => {
    try {
      return await guarded(input, init);
    } catch (error) {
      if (error instanceof EgressError) log?.(refusalEntry(error, input, init));
      throw error;
    }
  };
  GUARDED.add(logged);
  return logged;
}

const GUARDED = new WeakSet<OutgoingFetch>();

/** True if a `fetch` keeps to rules, and has the limits of outgoing requests. */
function isGuarded(given: OutgoingFetch): boolean {
  return GUARDED.has(given);
}

function obeying(
  rules: EgressRules,
  send: typeof fetch,
  sendTo: (reach: Reach) => typeof fetch,
): OutgoingFetch {
  const known = new KnownDestinations(rules);
  return async (input, { namedBy, once = false, ...init } = {}) => {
    const target = input instanceof Request ? input.url : input.toString();
    const { host, reach, isResolved } =
      namedBy === undefined ? known.get(target) : destinationOf(target, rules, namedBy);
    // The function that resolves names also says whether there was a connection.
    const sender = !once && isResolved ? send : sendTo(reach);
    const response = await sender(input, { ...init, redirect: "manual" });
    if (!REDIRECTS.has(response.status)) return response;
    await response.body?.cancel();
    const location = response.headers.get("location") ?? "";
    const other = URL.canParse(location, target)
      ? new URL(location, target).host
      : "an invalid URL";
    throw new EgressError(
      host,
      `"${host}" redirects to ${other}; redirects are not followed. Use the final URL.`,
    );
  };
}

/** An allowed destination of a request. */
interface Destination {
  host: string;
  reach: Reach;
  /** True for an address, which nothing has to resolve. */
  isResolved: boolean;
}

/** @throws EgressError for one that the rules do not allow */
function destinationOf(
  target: string,
  rules: EgressRules,
  namedBy?: OutgoingInit["namedBy"],
): Destination {
  const url = parseTarget(target);
  const host = plainHost(url);
  const isResolved = isLoopbackHost(host) || isAddress(host);
  return { host, reach: reachFor(url, rules, namedBy), isResolved };
}

/**
 * The URLs that rules were found to allow, which they always will: most requests of a deployment go to the same few URLs of model
 * servers.
 */
class KnownDestinations {
  static readonly #MOST = 100;
  static readonly #LONGEST_URL = 500;
  readonly #rules: EgressRules;
  readonly #known = new Map<string, Destination>();

  constructor(rules: EgressRules) {
    this.#rules = rules;
  }

  get(target: string): Destination {
    let destination = this.#known.get(target);
    if (destination === undefined) {
      destination = destinationOf(target, this.#rules);
      if (this.#known.size === KnownDestinations.#MOST) this.#known.clear();
      if (target.length <= KnownDestinations.#LONGEST_URL) this.#known.set(target, destination);
    }
    return destination;
  }
}

/** The reach of a request. The URL that a document from outside names leads to public addresses only. */
function reachFor(target: URL, rules: EgressRules, namedBy: OutgoingInit["namedBy"]): Reach {
  const reach = checkEgress(target, rules);
  if (namedBy === undefined || names(rules, target)) return reach;
  if (namedBy === null) return "public";
  checkReferral(namedBy, target, rules);
  const source = parseTarget(namedBy);
  return source.origin === target.origin || isLoopbackHost(plainHost(source)) ? reach : "public";
}

/** Requests of steps carry the step's key: run, turn within the run, and path of the step. */
const STEP_KEY = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/(\d+\/.+)$/;

function refusalEntry(
  { code, host }: EgressError,
  input: string | URL | Request,
  init: RequestInit | undefined,
): LogEntry {
  const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : {}));
  const [, run = null, step = null] = STEP_KEY.exec(headers.get("idempotency-key") ?? "") ?? [];
  return { event: "request_refused", host, run, step, code };
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

const OPEN = new WeakMap<OutgoingFetch, OutgoingFetch>();

/**
 * The `fetch` for requests of components: that of the host, with the limits that every outgoing request has. Where the host
 * has no rules of egress, a document of another machine may name none of this one.
 */
export function outgoingFetch({ fetch: given = fetch }: OutgoingDependencies): OutgoingFetch {
  if (isGuarded(given)) return given;
  const existing = OPEN.get(given);
  if (existing !== undefined) return existing;
  const send: OutgoingFetch = async (input, { namedBy, ...init } = {}) => {
    const target = input instanceof Request ? input.url : input;
    if (namedBy != null) checkReferral(namedBy, target);
    return given(input, init);
  };
  const made = limitedFetch(send);
  OPEN.set(given, made);
  return made;
}
