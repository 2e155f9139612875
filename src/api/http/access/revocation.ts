import { LONGEST_TIMER_MS, wait } from "../../../core/wait.ts";
import type { Principal, Refusal } from "../../auth/principal.ts";
import { EVENT_STREAM } from "../../../http/event-stream.ts";

/** With the 10 s that a verdict is remembered, a stream ends within 30 s after its credential. */
export const RECHECK_MS = 20_000;

/** The checks that notice the end of a credential. */
export interface CredentialChecks {
  /**
   * Waits until the object that knows the credential says that it was revoked.
   *
   * @returns whether it was, or false when the object was restarted; undefined for a credential that no object knows
   */
  revocation(signal: AbortSignal): Promise<boolean> | undefined;
  /** Authenticates the request once more. */
  authenticate(): Promise<Principal | Refusal>;
  /** Milliseconds between two checks, and before the first one: most streams are shorter. */
  recheckMs: number;
}

/**
 * Closes a stream when its credential has expired, or some time after it was revoked. Other responses, and those to
 * credentials that cannot end, are returned as they are.
 */
export function endWithCredential(
  response: Response,
  { kind, expires_at }: Principal,
  checks: CredentialChecks,
): Response {
  const canEnd = kind === "created" || expires_at !== null;
  const { body } = response;
  if (!canEnd || body === null || response.headers.get("content-type") !== EVENT_STREAM) {
    return response;
  }
  const over = new AbortController();
  const reader = body.getReader();
  const life = expires_at === null ? Infinity : Date.parse(expires_at) - Date.now();
  let expiry: ReturnType<typeof setTimeout> | undefined;
  const finish = (): void => {
    clearTimeout(expiry);
    over.abort();
  };
  const readable = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // Closed here, not where the body is read: a body that sends nothing would keep the stream open until its next ping.
        const end = (): void => {
          if (over.signal.aborted) return;
          finish();
          controller.close();
          void reader.cancel().catch(() => undefined); // It has failed.
        };
        if (life <= LONGEST_TIMER_MS) expiry = setTimeout(end, life);
        void untilRevoked(checks, over.signal).then(end, () => undefined); // The stream is over.
      },
      async pull(controller) {
        const read = await reader.read().catch((error: unknown) => {
          finish();
          throw error;
        });
        if (over.signal.aborted) return;
        if (read.done) {
          finish();
          controller.close();
        } else {
          controller.enqueue(read.value);
        }
      },
      cancel(reason) {
        finish();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(readable, response);
}

/** @throws the signal's reason when it aborts */
async function untilRevoked(checks: CredentialChecks, signal: AbortSignal): Promise<void> {
  for (;;) {
    await wait(checks.recheckMs, signal);
    // A tenant or an issuer that cannot be reached at the moment does not end the stream.
    if (await (checks.revocation(signal) ?? isRefused(checks)).catch(() => false)) return;
  }
}

/**
 * Statuses of a credential that is not valid. It gets 429 from an address that has sent too many of them: what else this
 * address sends must not keep the stream open.
 */
const REFUSED: ReadonlySet<number> = new Set([401, 429]);

async function isRefused(checks: CredentialChecks): Promise<boolean> {
  const caller = await checks.authenticate();
  return "problem" in caller && REFUSED.has(caller.problem.status);
}
