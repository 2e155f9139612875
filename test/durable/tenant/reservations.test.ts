import { beforeEach, expect, test } from "vitest";
import { tenantStub, type TenantStub } from "../support/tenant.ts";

let tenant: TenantStub;
let count = 0;

beforeEach(() => {
  tenant = tenantStub(`reserving-${++count}`);
});

test("one key makes one team, also with two ids in two bodies", async () => {
  const first = { id: "a", idempotency: { key: "k", hash: "h1" } };
  expect(await tenant.reserve(first)).toEqual({ ok: true, value: { id: "a" } });
  expect(await tenant.reserve({ ...first, id: "generated" })).toEqual({
    ok: true,
    value: { id: "a" },
  });
  expect(await tenant.reserve({ id: "b", idempotency: { key: "k", hash: "h2" } })).toMatchObject({
    ok: false,
    problem: { status: 422, code: "idempotency_mismatch" },
  });
});

test("the limit of teams holds, reserved ones included", async () => {
  await tenant.put({ limits: { teams: 3 } });
  const asked = await Promise.all(
    Array.from({ length: 10 }, (_, index) => tenant.reserve({ id: `t${index}` })),
  );
  expect(asked.filter(({ ok }) => ok)).toHaveLength(3);
  expect(asked.find(({ ok }) => !ok)).toMatchObject({
    problem: { status: 429, code: "too_many_teams", extra: { limit: "teams", value: 3 } },
  });
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
  expect(JSON.stringify(await tenant.keys())).not.toContain("aaaa");
  await tenant.createKey({ ...input, id: "k2", expires_in: -1 });
  expect(await tenant.verifyKey("k2", "a".repeat(64))).toBeNull();
  expect(await tenant.revokeKey("k1")).toEqual({ ok: true, value: null });
  expect(await tenant.verifyKey("k1", "a".repeat(64))).toBeNull();
});

test("limits are the deployment's until they are overridden", async () => {
  expect(await tenant.limits()).toMatchObject({ teams: 10_000, tokens_per_day: null });
  await tenant.put({ label: "Acme", limits: { tokens_per_day: 5 } });
  await tenant.put({ limits: { active_runs: 1 } });
  expect(await tenant.info()).toMatchObject({
    value: { label: "Acme", limits: { teams: 10_000, tokens_per_day: 5, active_runs: 1 } },
  });
});
