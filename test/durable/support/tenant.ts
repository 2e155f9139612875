import { env } from "cloudflare:workers";
import type { DirectoryInbox, TenantGateway } from "#contract/tenant-gateway.ts";
import type { Tenant } from "./worker.ts";

/** A tenant as its Worker and its teams see it; the stub's own type is too deep for the compiler. */
export type TenantStub = TenantGateway & DirectoryInbox;

export function tenantStub(name: string): TenantStub {
  return env.TENANT.get(env.TENANT.idFromName(name)) as never;
}

/** The stub for what tests do with objects themselves. */
export function tenantObject(tenant: TenantStub): DurableObjectStub<Tenant> {
  return tenant as never;
}
