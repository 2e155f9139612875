import { TroupeError } from "../../../core/errors.ts";
import { ModelError, type ModelErrorKind } from "../../../core/models/model-error.ts";
import { beginningOf } from "../../../core/cut.ts";
import { askedWaitText } from "../../../outgoing/request-error.ts";
import { askedWaitOf } from "./asked-wait.ts";
import { saysContextIsFull } from "./context-words.ts";
import { quoted } from "./fields.ts";
import { reportOf, type ServerReport } from "./server-report.ts";

/** Error bodies may be whole pages. */
const LONGEST_MESSAGE = 500;

/** An error that a server reports, instead of its answer or inside of it. */
export class ServerFailure extends Error {
  /** The reported error, whatever its form. */
  readonly body: unknown;
  /** The HTTP status of an error answer; undefined inside an answer that began well. */
  readonly status: number | undefined;
  readonly headers: Headers | undefined;

  constructor(body: unknown, status?: number, headers?: Headers) {
    super("The model server reported an error");
    this.body = body;
    this.status = status;
    this.headers = headers;
  }
}

export function timeoutError(): ModelError {
  return new ModelError("timeout", "The model server took too long");
}

/** The error of a connection that broke while the answer was read, or could not be made. */
export function connectionError(message: string, started: boolean): ModelError {
  return new ModelError(
    "connection",
    started
      ? `The connection to the model server broke: ${message}`
      : `The model server cannot be reached: ${message}`,
  );
}

/** The error for an answer that ended too early or is not JSON. */
export function incompleteJson(): ModelError {
  return new ModelError("bad_response", "The model server's answer is not complete JSON");
}

/** The error for a reply whose end has not arrived. */
export function unfinished(): ModelError {
  return new ModelError("bad_response", "The model server's stream ended before the reply did");
}

/**
 * The error for one that was thrown while a piece of an answer was read. An error in a reader is Troupe's own fault, and would
 * come again with the same answer: it must not look like a lost connection.
 */
export function readingError(error: unknown, piece: unknown): Error {
  if (error instanceof TroupeError || error instanceof ServerFailure) return error;
  return new ModelError(
    "bad_response",
    `Troupe cannot read this piece of the model server's answer: ${errorText(quoted(piece))}`,
    { retryable: false, cause: error },
  );
}

/**
 * Maps an error that a server reports to one that says whether another attempt makes sense.
 * @param redact removes secrets from a text
 * @param hint advice for the reader of the error
 */
export function reportedError(
  { body, status: answered, headers }: ServerFailure,
  redact: (text: string) => string,
  hint?: (message: string, status: number) => string,
): ModelError {
  const report = reportOf(body);
  const status = statusOf(report, answered);
  const codes = report.codes.join(", ");
  const words = errorText(report.message || codes || "without a message", redact);
  const said = words + (hint && status !== undefined ? hint(words, status) : "");
  const kind = kindOf(report, status, said);
  const verdict = verdictOf(report, status, headers) ?? (kind === "refused" ? false : undefined);
  const retryAfterMs = askedWaitOf(headers, report.waitMs);
  const wait = verdict === false ? "" : askedWaitText(retryAfterMs);
  const [code] = report.codes;
  return withRequestId(
    new ModelError(kind, `${answered === undefined ? "" : `${answered} `}${said}${wait}`, {
      ...(status !== undefined && { status }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      ...(verdict !== undefined && { retryable: verdict }),
      data: {
        ...(code !== undefined && { provider_code: errorText(code, redact) }),
        ...(report.requestId !== undefined && { request_id: errorText(report.requestId, redact) }),
      },
    }),
    headers,
  );
}

const REQUEST_ID_HEADERS = ["x-request-id", "request-id", "apim-request-id", "x-ms-request-id"];

/** Adds the provider's id of the request, by which its support finds it. */
export function withRequestId<E extends TroupeError>(error: E, headers: Headers | undefined): E {
  const id = REQUEST_ID_HEADERS.map((name) => headers?.get(name)).find(Boolean);
  if (id && error instanceof ModelError) error.data["request_id"] ??= id;
  return error;
}

/** Codes and types in words, by the status that they stand for. */
const STATUS_OF_CODE: readonly (readonly [pattern: RegExp, status: number])[] = [
  [/rate_?limit|too_?many_?requests|resource_?exhausted|throttl|quota/, 429],
  [/overload|capacity|service_?unavailable|^unavailable$/, 503],
  [/time_?out|deadline_?exceeded/, 504],
  [/unauthenticated|unauthorized|authentication|invalid_api_key|incorrect_api_key/, 401],
  [/payment|billing|insufficient_(balance|funds|credits?)/, 402],
  [/permission|forbidden|access_?denied/, 403],
  [/not_?found/, 404],
  [/too_?large/, 413],
  [/unprocessable/, 422],
  [
    /invalid_(request|prompt|argument|parameter|base64|value)|bad_?request|validation|unsupported|(^|_)image(_|$)/,
    400,
  ],
  [/server_?error|internal|api_error|upstream|bad_?gateway/, 500],
];

/** Statuses that a gateway gives to errors of every kind: the code inside says more. */
const isVague = (status: number): boolean => status <= 400 || status >= 500;

/** The status of a failure: that of the answer, or that of the code in the error. */
function statusOf({ codes, status: inside }: ServerReport, answered = 200): number | undefined {
  if (!isVague(answered)) return answered;
  if (inside !== undefined) return inside;
  if (answered >= 400) return answered;
  for (const code of codes) {
    // In snake case, whatever the server's: BadRequestError, RESOURCE_EXHAUSTED.
    const name = code.replaceAll(/([a-z])([A-Z])/g, "$1_$2").toLowerCase();
    const existing = STATUS_OF_CODE.find(([pattern]) => pattern.test(name));
    if (existing !== undefined) return existing[1];
  }
  return answered === 200 ? undefined : answered;
}

/** The account's quota or its money is used up. */
const NO_CREDIT =
  /^(insufficient_(quota|balance|funds|credits?)|billing_hard_limit_reached|credit_balance_too_low|billing_not_active|3036|4006)$/;

/** Statuses of the class 4xx after which another attempt may succeed. */
const PASSING = new Set([408, 409, 425, 429]);

/** True or false if the code or the headers decide about another attempt; undefined if the kind of the error decides. */
function verdictOf(
  { codes }: ServerReport,
  status: number | undefined,
  headers: Headers | undefined,
): boolean | undefined {
  if (codes.some((code) => NO_CREDIT.test(code))) return false;
  const verdict = headers?.get("x-should-retry");
  if (verdict === "false") return false;
  // A refused request would be refused again, whatever the header says.
  const isRefused = status !== undefined && status >= 400 && status < 500 && !PASSING.has(status);
  if (isRefused) return false;
  return verdict === "true" ? true : undefined;
}

const CONTENT_FILTER =
  /content_?(policy|filter)|responsible_?ai|content_management|data_inspection_failed/i;

/** Words of an error that has neither a status nor a code. */
const RATE_WORDS = /too many requests|rate.?limit|throttl/i;

function kindOf(
  { codes }: ServerReport,
  status: number | undefined,
  message: string,
): ModelErrorKind {
  const mayBeLong = status === undefined || ![401, 403, 404, 429].includes(status);
  if (codes.some((code) => saysContextIsFull(code))) return "context_length";
  if (mayBeLong && saysContextIsFull(message)) return "context_length";
  if (codes.some((code) => CONTENT_FILTER.test(code))) return "refused";
  switch (status) {
    case undefined:
      return RATE_WORDS.test(message) ? "rate_limit" : "server";
    case 401:
    case 403:
      return "auth";
    case 408:
      return "timeout";
    case 409:
    case 425:
      return "server";
    case 429:
      return "rate_limit";
    default:
      if (status >= 500) return "server";
      return status < 400 ? "bad_response" : "bad_request";
  }
}

/**
 * A server's error text, fit to be stored and shown: shortened, without keys.
 * @param redact removes the secrets of the request
 */
export function errorText(text: string, redact = (input: string): string => input): string {
  const clean = withoutKeys(redact(text));
  return clean.length <= LONGEST_MESSAGE ? clean : `${beginningOf(clean, LONGEST_MESSAGE)}...`;
}

/** An error of Troupe that may quote an answer. */
export function redactedError<E extends TroupeError>(
  error: E,
  redact: (text: string) => string,
): E {
  error.message = redact(error.message);
  return error;
}

/** Servers also quote keys that the request did not carry, whole or shortened. */
function withoutKeys(text: string): string {
  return text.replace(/\b(sk|gsk|xai|key)-[A-Za-z0-9_*-]{8,}/g, "[redacted]");
}
