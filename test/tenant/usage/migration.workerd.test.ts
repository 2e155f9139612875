import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { type DayUsage, usedOn } from "#tenant/usage/day-usage.ts";
import { value } from "../../team/support/team.ts";
import { tenantObject, tenantStub } from "../../team/support/tenant.ts";
import { made, run, type RunChange, Teller } from "../support/teller.ts";

function ended(
  team: string,
  id: string,
  day: number,
  status: "completed" | "failed" = "completed",
): RunChange {
  const change = run(team, id, status);
  const at = (second: number): string =>
    new Date(Date.UTC(2026, 0, day, 9, 0, second)).toISOString();
  const models = { m: { prompt_tokens: 5, completion_tokens: 0, cost: 0.5 } };
  const times = { created_at: at(0), started_at: at(0), ended_at: at(20) };
  return { ...change, run: { ...change.run, ...times, models, cost: 0.5 } };
}

type Stored = { day: string; team: string; record: string };
type Last = { id: string; used: string };

/** What earlier versions have stored: usage without outcomes. */
function withoutOutcomes(record: string, day: string): string {
  const { team_user, ...usage } = JSON.parse(record) as DayUsage & { team_user?: string };
  const { day: _, ...used } = usedOn({ ...usage, day });
  return JSON.stringify({ ...used, ...(team_user !== undefined && { team_user }) });
}

test("usage of an earlier version keeps its sums, and gets the outcomes of the runs that are listed", async () => {
  const tenant = tenantStub("usage-without-outcomes");
  const [a, b, gone] = [
    new Teller(tenant, "a"),
    new Teller(tenant, "b"),
    new Teller(tenant, "gone"),
  ];
  await a.tell(made(), ended("a", "a1", 2), ended("a", "a2", 2, "failed"), ended("a", "a3", 3));
  await b.tell(made(), ended("b", "b1", 3, "failed"));
  await gone.tell(made(), ended("gone", "g1", 2, "failed"));
  const created = Date.UTC(2026, 0, 2, 9);
  await gone.tell(
    { kind: "runs_deleted", runs: [{ status: "failed", created, id: "g1" }] },
    { kind: "deleted", idempotency: null },
  );
  const report = () =>
    tenant.usageReport({ from: "2026-01-01", to: "2026-01-05", by: ["day", "team", "model"] });
  const before = await report();
  await runInDurableObject(tenantObject(tenant), (_, { storage: { sql } }) => {
    for (const { day, team, record } of sql.exec<Stored>("select day, team, record from usage")) {
      const earlier = withoutOutcomes(record, day);
      sql.exec("update usage set record = ? where day = ? and team = ?", earlier, day, team);
    }
    for (const { id, used } of sql.exec<Last>(
      "select id, record -> '$.day' as used from activity",
    )) {
      const { day } = JSON.parse(used) as DayUsage;
      const earlier = { ...(JSON.parse(withoutOutcomes(used, day)) as object), day };
      const set = "update activity set record = json_set(record, '$.day', json(?)) where id = ?";
      sql.exec(set, JSON.stringify(earlier), id);
    }
    for (const table of ["inbound", "inbound_delivery", "inbound_tenant", "day_usage"])
      sql.exec(`drop table ${table}`);
    for (const table of [
      "notify",
      "skill_version",
      "skill_piece",
      "tool",
      "kept_file",
      "kept_file_piece",
    ])
      sql.exec(`drop table ${table}`);
    sql.exec("drop index team_token_request");
    sql.exec("update meta set value = '14' where name = 'schema'");
  });
  await evictDurableObject(tenantObject(tenant));
  expect(await report()).toEqual(before);
  const totals = async (query: object) => value(await tenant.runs({ limit: 9, ...query })).totals;
  // The outcome of the run of the team that was deleted is not known.
  expect(await totals({})).toMatchObject({
    runs: 5,
    completed: 2,
    failed: 2,
    cost: 2.5,
    prompt_tokens: 25,
    seconds: 80,
  });
  expect(await totals({ team: "gone" })).toMatchObject({ runs: 1, failed: 0, cost: 0.5 });
  const day = { from: Date.UTC(2026, 0, 2), to: Date.UTC(2026, 0, 3) - 1 };
  expect(await totals({ model: "m", status: "failed", ...day })).toMatchObject({
    runs: 1,
    cost: 0.5,
    seconds: 20,
  });
  const listed = value(await tenant.runs({ limit: 9, ...day })).runs;
  expect(listed.map(({ id }) => id).toSorted()).toEqual(["a1", "a2"]);
  await a.tell(ended("a", "a4", 3));
  expect(await totals({ team: "a" })).toMatchObject({ runs: 4, completed: 3 });
});
