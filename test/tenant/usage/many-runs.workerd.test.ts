import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { value } from "../../team/support/team.ts";
import { tenantObject, tenantStub } from "../../team/support/tenant.ts";
import { made, run, type RunChange, Teller } from "../support/teller.ts";

const TEAMS = 100;
const RUNS_PER_TEAM = 1_000;
const DAY = { from: Date.UTC(2026, 0, 2), to: Date.UTC(2026, 0, 3) - 1 };

/** The runs of a team on one day: 100 milliseconds longer from one to the next; every tenth fails. */
function runOf(team: string, n: number): RunChange {
  const change = run(team, `${team}-${n}`, n % 10 === 0 ? "failed" : "completed");
  const start = DAY.from + n * 60_000;
  const models = { m: { prompt_tokens: 5, completion_tokens: 1, cost: 0.001 } };
  return {
    ...change,
    run: {
      ...change.run,
      usage: { prompt_tokens: 5, completion_tokens: 1 },
      models,
      cost: 0.001,
      created_at: new Date(start).toISOString(),
      started_at: new Date(start).toISOString(),
      ended_at: new Date(start + 100 * (n + 1)).toISOString(),
    },
  };
}

test("totals of 100,000 runs of one day are exact, and those of a search can be looked for further", async () => {
  const tenant = tenantStub("many-runs");
  const [first, ...others] = Array.from({ length: TEAMS }, (_, index) => `team-${index}`);
  const team = new Teller(tenant, first ?? "");
  const changes = Array.from({ length: RUNS_PER_TEAM }, (_, n) => runOf(team.id, n));
  await team.tell(made(), ...changes);
  // The other teams have the same rows, with their names.
  await runInDurableObject(tenantObject(tenant), (_, { storage: { sql } }) => {
    for (const [index, other] of others.entries()) {
      sql.exec("insert into team select ?, record from team where id = ?", other, team.id);
      const move = "insert into activity select changed + ?, ?, record from activity where id = ?";
      sql.exec(move, index + 1, other, team.id);
      sql.exec(
        `insert into run select status, created, ?1, replace(id, ?2, ?1),
           json_set(record, '$.run.team_id', ?1, '$.run.id', replace(id, ?2, ?1))
         from run where team = ?2`,
        other,
        team.id,
      );
    }
  });
  const totals = async (query: object) => value(await tenant.runs({ limit: 1, ...query })).totals;
  const all = TEAMS * RUNS_PER_TEAM;
  for (const query of [{}, DAY, { model: "m", ...DAY }]) {
    const found = await totals(query);
    expect(found).toMatchObject({ runs: all, failed: all / 10, cost: 100, complete: true });
    expect(found.prompt_tokens).toBe(5 * all);
    expect(Math.abs((found.p50_seconds ?? 0) / 50 - 1)).toBeLessThan(0.02);
    expect(Math.abs((found.p95_seconds ?? 0) / 95 - 1)).toBeLessThan(0.02);
  }
  expect(await totals({ status: "failed", team: "team-7", ...DAY })).toMatchObject({ runs: 100 });
  const report = await tenant.usageReport({ from: "2026-01-02", to: "2026-01-02", by: ["day"] });
  expect(value(report).total).toMatchObject({ runs: all, cost: 100, prompt_tokens: 5 * all });
  let counted = 0;
  let totals_after: string | undefined;
  for (let piece = 0; piece < 11; piece++) {
    const found = await totals({ q: "team-7-", ...(totals_after && { totals_after }) });
    counted += found.runs;
    expect(found.complete).toBe(found.next_cursor === null);
    if (found.next_cursor === null) break;
    totals_after = found.next_cursor;
  }
  expect(counted).toBe(RUNS_PER_TEAM);
});
