import { toBase64Url } from "../../core/base64.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Idempotency } from "../../contract/gateways/team-gateway.ts";
import type { Limits } from "../limits.ts";
import { invalid } from "../problem.ts";

/** @throws ProblemError 422 when it is too large */
export function checkMetadata(metadata: JsonObject | undefined, limits: Limits): void {
  const size = new TextEncoder().encode(JSON.stringify(metadata ?? {})).length;
  if (size <= limits.max_metadata_bytes) return;
  throw invalid("invalid_request", "The metadata is too large.", [
    {
      path: "metadata",
      message: `is ${size} bytes of JSON; at most ${limits.max_metadata_bytes} are allowed`,
    },
  ]);
}

/**
 * An id that cannot be guessed: 128 random bits; or with an idempotency key the first 128 bits of its hash, so that the
 * same key finds the same team.
 *
 * @param call the operation: the same key may be used for several
 */
export async function newTeamId(
  tenant: string,
  call: string,
  idempotency?: Idempotency,
): Promise<string> {
  const bytes = new Uint8Array(16);
  if (idempotency === undefined) {
    crypto.getRandomValues(bytes);
  } else {
    const named = new TextEncoder().encode(`${call}\n${tenant}\n${idempotency.key}`);
    bytes.set(new Uint8Array(await crypto.subtle.digest("SHA-256", named)).subarray(0, 16));
  }
  return toBase64Url(bytes);
}
