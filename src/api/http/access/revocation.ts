import type { Authenticate, Principal } from "../../auth/principal.ts";
import { EVENT_STREAM } from "../../../http/event-stream.ts";

/** With the 10 s that a verdict is remembered, a stream ends within 30 s after its credential. */
export const RECHECK_MS = 20_000;

/**
 * Closes a stream some time after its credential was revoked or has expired. Other responses, and those to credentials that
 * cannot end, are returned as they are.
 *
 * @param recheckMs milliseconds between two checks
 */
export function endWithCredential(
  response: Response,
  { kind, expires_at }: Principal,
  authenticate: Authenticate,
  request: Request,
  recheckMs: number,
): Response {
  const canEnd = kind === "created" || expires_at !== null;
  const { body } = response;
  if (!canEnd || body === null || response.headers.get("content-type") !== EVENT_STREAM) {
    return response;
  }
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const ended = new AbortController();
  const timer = setInterval(() => {
    void isValid(authenticate, request).then((valid) => {
      if (!valid) ended.abort();
      return undefined;
    });
  }, recheckMs);
  void body
    .pipeTo(writable, { signal: ended.signal, preventAbort: true })
    .catch((error: unknown) => (ended.signal.aborted ? writable.close() : writable.abort(error)))
    .catch(() => undefined) // The client left.
    .finally(() => clearInterval(timer));
  return new Response(readable, response);
}

/**
 * Statuses of a credential that is not valid. It gets 429 from an address that has sent too many of them: what else this
 * address sends must not keep the stream open.
 */
const REFUSED: ReadonlySet<number> = new Set([401, 429]);

async function isValid(authenticate: Authenticate, request: Request): Promise<boolean> {
  try {
    const caller = await authenticate(request);
    return !("problem" in caller) || !REFUSED.has(caller.problem.status);
  } catch {
    // A tenant or an issuer that cannot be reached at the moment does not end the stream.
    return true;
  }
}
