import { toBase64Url } from "../../../core/base64.ts";
import type { Principal } from "../../auth/principal.ts";
import type { Idempotency } from "../../../contract/common.ts";
import type { Reservation, Tenants } from "../../../contract/gateways/tenant-gateway.ts";
import { unwrap } from "../endpoint/problem.ts";

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

/**
 * The id that the tenant gives a new team: for a repeated request the one it was given first.
 *
 * @param tenants undefined without the binding TENANT: then any id is taken as it is
 * @param tool the own tool of the new team
 * @throws ProblemError 409, 422 or 429
 */
export async function reservedId(
  tenants: Tenants | undefined,
  { tenant, tenant_label }: Principal,
  id: string,
  idempotency: Idempotency | undefined,
  tool?: Reservation["tool"],
): Promise<string> {
  if (tenants === undefined) return id;
  const reservation = {
    id,
    ...(tenant_label !== undefined && { tenant_label }),
    ...(idempotency && { idempotency }),
    ...(tool && { tool }),
  };
  return unwrap(await tenants.tenant(tenant).reserve(reservation)).id;
}
