import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import type { TenantMethods } from "#tenant/object/handlers/tenant-methods.ts";
import { expect, test } from "vitest";
import { TestTeam, counter, value } from "../team/support/team.ts";
import { tenantObject, tenantStub } from "../team/support/tenant.ts";
import type { Tenant } from "../team/support/worker.ts";

/** What version 1 stored: a tenant with a limit of its own and a key. */
const VERSION_1 = `
create table meta (name text primary key, value text) without rowid;
create table tenant (id text primary key, label text) without rowid;
create table key (id text primary key, record text not null) without rowid;
insert into meta values ('schema', '1');
insert into meta values ('tenant', '{"id":"from-version-1","label":"Old","limits":{"requests_per_second":7},"created_at":"2026-11-22T08:00:00.000Z","registered":true}');
insert into key values ('k1', '{"name":"app","scopes":["runs:read"],"hash":"${"a".repeat(64)}","created_at":"2026-11-22T08:00:00.000Z","expires_at":null,"last_used":null}');
`;

test("a tenant stored by version 1 keeps its key and limits, and lists teams", async () => {
  const tenant = tenantStub("from-version-1");
  await runInDurableObject(tenantObject(tenant), (_instance, { storage }) => {
    storage.sql.exec(VERSION_1);
  });
  await evictDurableObject(tenantObject(tenant));
  expect(await tenant.verifyKey("k1", "a".repeat(64))).toMatchObject({ name: "app" });
  expect(await tenant.info()).toMatchObject({
    value: { label: "Old", limits: { requests_per_second: 7 }, teams: 0 },
  });
  const team = await TestTeam.create(counter("a"), "from-version-1");
  await team.delivered();
  const teams = value(await tenant.teams({ metadata: {}, order: "newest", limit: 10 })).teams;
  expect(teams).toMatchObject([{ id: team.id }]);
});

test("tables of a newer version are refused before anything runs, and stay as they are", async () => {
  const tenant = tenantStub("from-version-99");
  await runInDurableObject(tenantObject(tenant), (_instance, { storage }) => {
    storage.sql.exec(VERSION_1.replace("'schema', '1'", "'schema', '99'"));
    return storage.setAlarm(Date.now() + 3_600_000);
  });
  await evictDurableObject(tenantObject(tenant));
  await runInDurableObject(tenantObject(tenant), (object: Tenant) => {
    const instance = object as Tenant & TenantMethods;
    const newer =
      "The stored data was written by a newer version of Troupe (its tables have version 99";
    expect(() => instance.info()).toThrow(newer);
    expect(() => instance.verifyKey("k1", "a".repeat(64))).toThrow(newer);
    expect(() => instance.limits()).toThrow(newer);
    expect(() => instance.reserve({ id: "a" })).toThrow(newer);
  });
  await runDurableObjectAlarm(tenantObject(tenant));
  await runInDurableObject(tenantObject(tenant), async (instance, { storage }) => {
    expect(instance.rowsWritten).toBe(0);
    expect(await storage.getAlarm()).not.toBeNull();
  });
});
