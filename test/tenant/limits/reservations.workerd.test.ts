import { beforeEach, expect, test } from "vitest";
import { tenantStub, type TenantStub } from "../../team/support/tenant.ts";

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
