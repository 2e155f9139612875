import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, vi } from "vitest";
import type { TenantGateway, TenantOfTeam } from "#contract/tenant-gateway.ts";
import type { Tenant } from "./worker.ts";

/** A tenant as its Worker sees it; the stub's own type is too deep for the compiler. */
export type TenantStub = Omit<TenantGateway, "events"> & TenantOfTeam;

export function tenantStub(name: string): TenantStub {
  const stub: unknown = env.TENANT.get(env.TENANT.idFromName(name));
  return stub as TenantStub;
}

/** Resolves when the registry knows the tenant: nothing happens by itself any more. */
export async function settled(tenant: TenantStub): Promise<void> {
  const alarm = () =>
    runInDurableObject(tenantObject(tenant), (_, { storage }) => storage.getAlarm());
  await vi.waitFor(async () => expect(await alarm()).toBeNull(), { timeout: 10_000 });
}

/** The stub for what tests do with objects themselves. */
export function tenantObject(tenant: TenantStub): DurableObjectStub<Tenant> {
  return tenant as never;
}
