import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { beforeEach, expect, test } from "vitest";
import { value } from "../../team/support/team.ts";
import { tenantObject, tenantStub, type TenantStub } from "../../team/support/tenant.ts";

let tenant: TenantStub;
let count = 0;

beforeEach(() => {
  tenant = tenantStub(`keys-${++count}`);
});

test("tokens that are made while all of a team are revoked stay listed, because they may work", async () => {
  const record = { scopes: ["runs:read" as const], user: null, made_by: "app", maker: "k1" };
  const expires_at = new Date(Date.now() + 60_000).toISOString();
  const first = Date.now();
  for (const [n, id] of ["t1", "t2", "t3"].entries()) {
    const token = { ...record, id, creation: "c", ends_with: null, expires_at, made_at: first + n };
    value(await tenant.addToken("desk", token));
  }
  const listed = async (): Promise<string[]> =>
    value(await tenant.tokens({ id: "desk", creation: "c" }, { limit: 10 })).tokens.map(
      ({ id }) => id,
    );
  await tenant.dropTokens("desk", { made_until: first + 1 });
  expect(await listed()).toEqual(["t3"]);
  await tenant.dropTokens("desk", { id: "t3" });
  expect(await listed()).toEqual([]);
});

test("keys work until they are revoked or expire", async () => {
  const input = {
    id: "k1",
    name: "app",
    scopes: ["runs:read" as const],
    hash: "a".repeat(64),
    expires_in: null,
  };
  expect(await tenant.createKey(input)).toMatchObject({
    ok: true,
    value: { id: "k1", name: "app", scopes: ["runs:read"], expires_at: null, last_used_at: null },
  });
  expect(await tenant.verifyKey("k1", "b".repeat(64))).toBeNull();
  expect(await tenant.verifyKey("k2", "a".repeat(64))).toBeNull();
  const used = await tenant.verifyKey("k1", "a".repeat(64));
  expect(used?.last_used_at).toMatch(/:00\.000Z$/);
  expect(JSON.stringify(await tenant.keys({ limit: 10 }))).not.toContain("aaaa");
  await tenant.createKey({ ...input, id: "k2", expires_in: -1 });
  expect(await tenant.verifyKey("k2", "a".repeat(64))).toBeNull();
  expect(await tenant.revokeKey("k1")).toEqual({ ok: true, value: null });
  expect(await tenant.verifyKey("k1", "a".repeat(64))).toBeNull();
});

test("keys are listed in pages, and limited; expired ones make room", async () => {
  await tenant.put({ limits: { keys: 5 } });
  const make = (id: string, expires_in: number | null = null) =>
    tenant.createKey({ id, name: id, scopes: ["runs:read"], hash: "e".repeat(64), expires_in });
  for (const id of ["k1", "k2", "k3", "k4"]) expect(await make(id)).toMatchObject({ ok: true });
  expect(await make("k5", -1)).toMatchObject({ ok: true });
  expect(await make("k6")).toMatchObject({ ok: true });
  expect(await make("k7")).toMatchObject({
    problem: { status: 429, code: "too_many_keys", extra: { limit: "keys", value: 5 } },
  });
  const listed: string[] = [];
  let cursor: string | null | undefined;
  do {
    const page = value(await tenant.keys({ limit: 2, ...(cursor && { cursor }) }));
    expect(page.keys.length).toBeLessThanOrEqual(2);
    listed.push(...page.keys.map(({ id }) => id));
    cursor = page.next_cursor;
  } while (cursor !== null);
  expect(listed.toSorted()).toEqual(["k1", "k2", "k3", "k4", "k6"]);
  expect(await tenant.keys({ limit: 2, cursor: "none" })).toMatchObject({
    problem: { code: "invalid_cursor" },
  });
});

test("a key is known again after the object was unloaded", async () => {
  const hash = "c".repeat(64);
  await tenant.createKey({ id: "k", name: "app", scopes: ["runs:read"], hash, expires_in: 60 });
  await evictDurableObject(tenantObject(tenant));
  expect(await tenant.verifyKey("k", hash)).toMatchObject({ name: "app" });
});

test("the use of a key is written once a minute at most", async () => {
  const hash = "d".repeat(64);
  await tenant.createKey({ id: "k", name: "app", scopes: ["runs:read"], hash, expires_in: null });
  await tenant.verifyKey("k", hash);
  const written = (): Promise<number> =>
    runInDurableObject(tenantObject(tenant), (object) => object.rowsWritten);
  const before = await written();
  for (let n = 0; n < 20; n++) await tenant.verifyKey("k", hash);
  expect((await written()) - before).toBeLessThanOrEqual(1);
});

test("limits are the deployment's until they are overridden", async () => {
  expect(await tenant.limits()).toMatchObject({ requests_per_second: 100, teams: 10_000 });
  await tenant.put({ limits: { requests_per_second: 5 } });
  await tenant.put({ label: "Acme" });
  expect(await tenant.info()).toMatchObject({
    value: { label: "Acme", limits: { requests_per_second: 5 } },
  });
});

test("a question about a tenant without stored data writes nothing", async () => {
  expect(await tenant.verifyKey("id", "0".repeat(64))).toBeNull();
  expect(await tenant.info()).toMatchObject({ ok: false, problem: { status: 404 } });
  expect(await tenant.revokeKey("id")).toMatchObject({ ok: false });
  expect(await tenant.keys({ limit: 10 })).toMatchObject({ value: { keys: [] } });
  const tables = await runInDurableObject(tenantObject(tenant), (_, state) =>
    state.storage.sql.exec("select name from sqlite_master").toArray(),
  );
  expect(tables).toEqual([]);
});
