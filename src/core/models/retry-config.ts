import * as z from "zod";
import type { RetryPolicy } from "../steps/retry.ts";

/** A week. */
const LONGEST_PATIENCE_SECONDS = 604_800;

/**
 * The retry policy of a model client while its server is down, overloaded or limits the rate. AutoGen ignores the key.
 */
export const retrySchema = z.object({
  for_seconds: z.number().nonnegative().max(LONGEST_PATIENCE_SECONDS).nullish(),
  attempts: z.int().positive().nullish(),
});

/**
 * The retry policy of a client's config; undefined for the default.
 *
 * @param config `max_retries` is AutoGen's: attempts after the first one. `retry.attempts` takes precedence over it.
 */
export function retryPolicyOf({
  retry,
  max_retries,
}: {
  readonly retry?: z.infer<typeof retrySchema> | null | undefined;
  readonly max_retries?: number | null | undefined;
}): RetryPolicy | undefined {
  const attempts = retry?.attempts ?? (max_retries == null ? undefined : max_retries + 1);
  const forSeconds = retry?.for_seconds ?? undefined;
  return attempts === undefined && forSeconds === undefined ? undefined : { attempts, forSeconds };
}
