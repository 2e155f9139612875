import * as z from "zod";
import { withoutNulls } from "../component/component.ts";
import type { JsonObject } from "../json.ts";
import { aNumber, type OptionsSchema } from "../options/options.ts";
import type { RetryPolicy } from "./retry.ts";

/** A week. */
const LONGEST_PATIENCE_SECONDS = 604_800;

/**
 * The retry policy of a component while its server is down, overloaded or limits the rate. AutoGen ignores the key.
 */
export const retrySchema = z.object({
  for_seconds: z.number().nonnegative().max(LONGEST_PATIENCE_SECONDS).nullish(),
  attempts: z.int().positive().nullish(),
});

/**
 * The retry policy of a component's config; undefined for the default.
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

/** The same in code. */
export const retryOptionsSchema: OptionsSchema<RetryPolicy> = z.object({
  forSeconds: aNumber.optional(),
  attempts: aNumber.optional(),
});

/** A policy as a config has it. */
export function retryConfig({ forSeconds, attempts }: RetryPolicy): JsonObject {
  return withoutNulls({ attempts, for_seconds: forSeconds });
}
