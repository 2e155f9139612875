import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, vi } from "vitest";
import { REGISTRY } from "#tenant/object/registry.ts";
import type { Result } from "#contract/result.ts";
import type { TenantList } from "#contract/tenant/tenant.ts";
import type {
  TenantGateway,
  TenantOfMemories,
  TenantOfTeam,
} from "#contract/gateways/tenant-gateway.ts";
import type { Tenant } from "./worker.ts";
import { PATIENCE } from "../../support/patience.ts";

/** A tenant as its Worker sees it; the stub's own type is too deep for the compiler. */
export type TenantStub = Omit<TenantGateway, "events"> & TenantOfTeam & TenantOfMemories;

export function tenantStub(name: string): TenantStub {
  const stub: unknown = env.TENANT.get(env.TENANT.idFromName(name));
  return stub as TenantStub;
}

/** Resolves when the registry knows the tenant and no alarm is set: nothing happens by itself any more. */
export async function settled(tenant: TenantStub): Promise<void> {
  // The alarm that tells the registry is not set while it starts, so the registry is asked first.
  const { name } = tenantObject(tenant).id;
  await vi.waitFor(async () => expect(await registered()).toContain(name), PATIENCE);
  const alarm = () =>
    runInDurableObject(tenantObject(tenant), (_, { storage }) => storage.getAlarm());
  await vi.waitFor(async () => expect(await alarm()).toBeNull(), PATIENCE);
}

async function registered(): Promise<string[]> {
  const stub: unknown = env.TENANT.get(env.TENANT.idFromName(REGISTRY));
  const registry = stub as { tenants(page: { limit: number }): Promise<Result<TenantList>> };
  const page = await registry.tenants({ limit: 1000 });
  return page.ok ? page.value.tenants.map(({ id }) => id) : [];
}

/** The stub for what tests do with objects themselves. */
export function tenantObject(tenant: TenantStub): DurableObjectStub<Tenant> {
  return tenant as never;
}

/** Takes back what knows of triggers, of the sums of days, and of the users of runs, teams and logins: the tables are those of an earlier version. */
export const WITHOUT_USERS = `
drop table kept_file; drop table kept_file_piece; drop table tool;
drop table skill_version;
drop table skill_piece;
drop table notify;
drop index team_token_request;
drop table inbound;
drop table inbound_delivery;
drop table inbound_tenant;
drop table day_usage;
drop table user_usage;
drop index activity_user;
drop index run_user;
drop index request_user;
drop index usage_user;
alter table gone drop column team_user;
alter table closed drop column team_user;
drop index login_of;
drop index login_until;
`;
