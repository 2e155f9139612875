import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { TenantGateway, TenantOfTeam } from "#contract/tenant-gateway.ts";
import type { Tenant } from "./worker.ts";

/** A tenant as its Worker sees it; the stub's own type is too deep for the compiler. */
export type TenantStub = Omit<TenantGateway, "events"> & TenantOfTeam;

export function tenantStub(name: string): TenantStub {
  const stub: unknown = env.TENANT.get(env.TENANT.idFromName(name));
  return stub as TenantStub;
}

/** The registry knows the tenant: nothing happens by itself any more. */
export async function settled(tenant: TenantStub): Promise<void> {
  await runDurableObjectAlarm(tenantObject(tenant));
}

/** The stub for what tests do with objects themselves. */
export function tenantObject(tenant: TenantStub): DurableObjectStub<Tenant> {
  return tenant as never;
}
