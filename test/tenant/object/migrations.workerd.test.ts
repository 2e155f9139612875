import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { TABLE_VERSIONS } from "#contract/table-versions.ts";
import type { TenantMethods } from "#tenant/object/tenant-methods.ts";
import { expect, test } from "vitest";
import { TestTeam, counter, value } from "../../team/support/team.ts";
import { type RegistryMethods, REGISTRY } from "#tenant/object/registry.ts";
import {
  tenantObject,
  type TenantStub,
  tenantStub,
  WITHOUT_USERS,
} from "../../team/support/tenant.ts";
import type { Tenant } from "../../team/support/worker.ts";

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
  await runInDurableObject(tenantObject(tenant), (_instance, { storage }) => {
    const [row] = storage.sql.exec("select value from meta where name = 'schema'").toArray();
    expect(row).toEqual({ value: String(TABLE_VERSIONS.tenant) });
  });
  const teams = value(await tenant.teams({ metadata: {}, order: "newest", limit: 10 })).teams;
  expect(teams).toMatchObject([{ id: team.id }]);
});

test("data from before the counting of objects count, and stay usable above a limit", async () => {
  const tenant = tenantStub("from-version-8");
  await tenant.put({ label: "Old" });
  await runInDurableObject(tenantObject(tenant), (_instance, { storage }) => {
    storage.sql.exec(`
      ${WITHOUT_USERS}
      drop table team_token;
      drop table memory_stored;
      insert into memory values ('collection/a'), ('collection/b'), ('user/ada'), ('tenant');
      update meta set value = '8' where name = 'schema';
    `);
  });
  await evictDurableObject(tenantObject(tenant));
  await tenant.put({ limits: { collections: 1, memory_users: 1 } });
  const counted = { collections: 2, memory_users: 1 };
  expect(await tenant.info()).toMatchObject({ value: { ...counted, stored_bytes: 0 } });
  const stored = { bytes: 4096, empty: false };
  expect(await tenant.noteMemories("collection/a", stored)).toMatchObject({ ok: true });
  expect(await tenant.noteMemories("tenant", stored)).toMatchObject({ ok: true });
  for (const name of ["collection/c", "user/bob"]) {
    expect(await tenant.noteMemories(name, stored)).toMatchObject({ problem: { status: 429 } });
  }
  expect(await tenant.info()).toMatchObject({ value: { ...counted, stored_bytes: 8192 } });
});

test("the list of tenants that an earlier version stored loses a deleted one, and one of a newer version is refused", async () => {
  const registry = tenantStub(REGISTRY) as TenantStub & RegistryMethods;
  await registry.register("from-version-11", "Old");
  const changed = async (statements: string): Promise<void> => {
    await runInDurableObject(tenantObject(registry), (_instance, { storage }) => {
      storage.sql.exec(statements);
    });
    await evictDurableObject(tenantObject(registry));
  };
  await changed(`${WITHOUT_USERS} update meta set value = '11' where name = 'schema'`);
  await registry.unregister("from-version-11");
  const { tenants } = value(await registry.tenants({ limit: 100 }));
  expect(tenants.map(({ id }) => id)).not.toContain("from-version-11");
  await registry.register("from-version-99", null);
  await changed("update meta set value = '99' where name = 'schema'");
  await runInDurableObject(tenantObject(registry), (object: Tenant) => {
    const instance = object as Tenant & TenantMethods;
    const newer = "its tables have version 99";
    expect(() => instance.tenants({ limit: 100 })).toThrow(newer);
    expect(() => instance.unregister("from-version-99")).toThrow(newer);
    expect(instance.rowsWritten).toBe(0);
  });
  await changed(`update meta set value = '${TABLE_VERSIONS.tenant}' where name = 'schema'`);
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
