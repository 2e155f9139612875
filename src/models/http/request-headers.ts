import type { SendOptions } from "./read-stream.ts";

/** The headers of a request that come from the step that makes it. */
export function requestHeaders({
  idempotencyKey,
  trace,
}: Pick<SendOptions, "idempotencyKey" | "trace">): Record<string, string> {
  return {
    ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
    ...trace,
  };
}
