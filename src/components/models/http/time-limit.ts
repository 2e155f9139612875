import type { TroupeError } from "../../../core/errors.ts";
import { timeoutError } from "./errors.ts";
import type { SendOptions } from "./read-stream.ts";

/**
 * Runs one exchange with a server, which must end within the time limit.
 *
 * @param exchange its signal aborts when the caller's does, and when the time is up
 * @param toError the error to throw for one of the exchange
 * @throws ModelError `timeout`; the signal's reason when it aborted
 */
export async function withTimeLimit<T>(
  { timeoutMs, signal }: Pick<SendOptions, "timeoutMs" | "signal">,
  exchange: (signal: AbortSignal) => Promise<T>,
  toError: (error: unknown) => TroupeError,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal?.reason);
  const timer = setTimeout(() => controller.abort(timeoutError()), timeoutMs);
  signal?.addEventListener("abort", abort, { once: true });
  try {
    return await exchange(controller.signal);
  } catch (error) {
    controller.signal.throwIfAborted();
    throw toError(error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}
