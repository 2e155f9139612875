import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { beforeEach, expect, test } from "vitest";
import type { ListedRun, RunQuery, RunTotals } from "#contract/directory.ts";
import type { UsageReport } from "#contract/usage/usage-report.ts";
import { settled, tenantObject, tenantStub, type TenantStub } from "../../team/support/tenant.ts";
import type { Tenant } from "../../team/support/worker.ts";
import { value } from "../../team/support/team.ts";
import { made, run, type RunChange, Teller } from "../support/teller.ts";

const DAY_MS = 86_400_000;
const FIRST = Date.UTC(2026, 0, 2);

let tenant: TenantStub;
let count = 0;

beforeEach(() => {
  tenant = tenantStub(`totals-${++count}`);
});

/** A run that ends some minutes after midnight of a day, and took a minute. */
function ended(
  team: string,
  id: string,
  { day = 0, minute = 60, ...more }: { day?: number; minute?: number } & Partial<ListedRun> = {},
): RunChange {
  const at = (minutes: number): string =>
    new Date(FIRST + day * DAY_MS + minutes * 60_000).toISOString();
  const change = run(team, id, more.status ?? "completed");
  const times = { created_at: at(minute - 2), started_at: at(minute - 1), ended_at: at(minute) };
  return { ...change, run: { ...change.run, ...times, ...more } };
}

/** Runs of three teams on three days, of each outcome, that call one or two models. */
async function tellSome(): Promise<ListedRun[]> {
  const all: ListedRun[] = [];
  for (const name of ["a", "b", "c"]) {
    const teller = new Teller(tenant, name);
    await teller.tell(made());
    const changes = Array.from({ length: 18 }, (_, n) => {
      const tokens = (more: number) => ({ prompt_tokens: n + more, completion_tokens: 1 });
      const models = {
        small: { ...tokens(1), cost: 0.25 },
        ...(n % 2 === 0 && { large: { ...tokens(10), cost: 1.5 } }),
      };
      return ended(name, `${name}${n}`, {
        day: Math.floor(n / 6),
        minute: 30 + n,
        status: (["completed", "failed", "cancelled"] as const)[n % 3] ?? "completed",
        models,
        usage: n % 2 === 0 ? { prompt_tokens: 2 * n + 11, completion_tokens: 2 } : tokens(1),
        cost: n % 2 === 0 ? 1.75 : 0.25,
        turns: n,
      });
    });
    await teller.tell(...changes);
    all.push(...changes.map((change) => change.run));
  }
  return all;
}

async function totals(query: Partial<RunQuery>): Promise<RunTotals> {
  return value(await tenant.runs({ limit: 1, ...query })).totals;
}

async function usage(by: "day" | "team" | "model" = "day"): Promise<UsageReport> {
  return value(await tenant.usageReport({ from: "2026-01-01", to: "2026-01-31", by: [by] }));
}

function amounts(counted: UsageReport["total"] | RunTotals): object {
  const { runs, turns, prompt_tokens, completion_tokens, cost } = counted;
  return { runs, turns, prompt_tokens, completion_tokens, cost };
}

function sum(runs: readonly ListedRun[]): object {
  const add = (of: (one: ListedRun) => number): number =>
    runs.reduce((total, one) => total + of(one), 0);
  return {
    runs: runs.length,
    turns: add(({ turns }) => turns),
    prompt_tokens: add((one) => one.usage.prompt_tokens),
    completion_tokens: add((one) => one.usage.completion_tokens),
    cost: add(({ cost }) => cost ?? 0),
  };
}

const range = (from: number, to = from): Pick<RunQuery, "from" | "to"> => ({
  from: FIRST + from * DAY_MS,
  to: FIRST + (to + 1) * DAY_MS - 1,
});

test("totals by status, team and whole days are those of the runs, before and after the object's end", async () => {
  const all = await tellSome();
  const isOn = (one: ListedRun, first: number, last: number): boolean => {
    const day = Math.floor((Date.parse(one.ended_at ?? "") - FIRST) / DAY_MS);
    return day >= first && day <= last;
  };
  for (const _ of ["loaded", "evicted"]) {
    expect(amounts(await totals({}))).toEqual(sum(all));
    for (const status of ["completed", "failed", "cancelled"] as const) {
      const some = all.filter((one) => one.status === status && isOn(one, 1, 2));
      const found = await totals({ status, ...range(1, 2) });
      expect(amounts(found)).toEqual(sum(some));
      expect(found).toMatchObject({ [status]: some.length, complete: true, next_cursor: null });
    }
    const ofTeam = all.filter((one) => one.team_id === "b" && isOn(one, 0, 0));
    expect(amounts(await totals({ team: "b", ...range(0) }))).toEqual(sum(ofTeam));
    expect(await totals({ team: "b", status: "failed" })).toMatchObject({ runs: 6, failed: 6 });
    await evictDurableObject(tenantObject(tenant));
  }
});

test("totals of a model have its tokens and its cost, as the report by model", async () => {
  await tellSome();
  const report = await usage("model");
  for (const row of report.usage) {
    expect(amounts(await totals({ model: row.model }))).toEqual(amounts(row));
    // The same, from the runs.
    expect(amounts(await totals({ model: row.model, min_cost: 0 }))).toEqual(amounts(row));
  }
  expect(report.usage.map(({ model }) => model)).toEqual(["large", "small"]);
  expect(await totals({ model: "constructor" })).toMatchObject({ runs: 0, cost: null });
});

test("totals of days are those of the report, of all teams and of one", async () => {
  await tellSome();
  const days = (await usage()).usage;
  expect(days).toHaveLength(3);
  for (const [day, row] of days.entries()) {
    expect(amounts(await totals(range(day)))).toEqual(amounts(row));
  }
  for (const row of (await usage("team")).usage) {
    expect(amounts(await totals({ team: row.team }))).toEqual(amounts(row));
  }
});

test("the report counts the failed runs of days and teams, but not by model", async () => {
  await tellSome();
  const days = await usage();
  expect(days.usage.map(({ failed }) => failed)).toEqual([6, 6, 6]);
  expect(days.total.failed).toBe(18);
  expect((await usage("team")).usage.map(({ failed }) => failed)).toEqual([6, 6, 6]);
  const models = await usage("model");
  for (const row of [...models.usage, models.total]) expect(row).not.toHaveProperty("failed");
});

test("percentiles of counted runs are within 2 % of those of the runs", async () => {
  await tellSome();
  const counted = await totals({});
  const exact = await totals({ min_cost: 0 });
  expect(counted.seconds).toBe(exact.seconds);
  for (const name of ["p50_seconds", "p95_seconds"] as const) {
    const difference = Math.abs((counted[name] ?? NaN) - (exact[name] ?? NaN));
    expect(difference / (exact[name] ?? NaN)).toBeLessThan(0.02);
  }
});

test("a run belongs to the day on which it ended, and an open one to none", async () => {
  const a = new Teller(tenant, "a");
  const late = ended("a", "late", { day: 1, minute: 1 });
  await a.tell(made(), ended("a", "early", { day: 0 }), late, run("a", "open", "running"));
  expect(late.run.created_at).toContain("2026-01-02");
  const page = value(await tenant.runs({ limit: 9, ...range(1) }));
  expect(page.runs.map(({ id }) => id)).toEqual(["late"]);
  expect(page.totals).toMatchObject({ runs: 1, open: 1 });
  expect(await totals(range(0))).toMatchObject({ runs: 1, open: 1 });
  expect(await totals({})).toMatchObject({ runs: 3, completed: 2, open: 1 });
  const open = value(await tenant.runs({ limit: 9, status: "running" }));
  expect(open).toMatchObject({ runs: [{ id: "open" }], totals: { runs: 1, open: 1 } });
  const since = value(await tenant.runs({ limit: 9, since: FIRST + DAY_MS }));
  expect(since.runs).toEqual([]);
});

test("an entry that is delivered twice counts once, and a retried run as one of its own", async () => {
  const a = new Teller(tenant, "a");
  const entries = a.entries(
    made(),
    ended("a", "r1", { status: "failed" }),
    ended("a", "r2", { retry_of: "r1", minute: 90 }),
  );
  const delivery = { team: "a", place: null, entries };
  await tenant.deliver(delivery);
  expect(await totals({})).toMatchObject({ runs: 2, completed: 1, failed: 1 });
  await tenant.deliver(delivery);
  await evictDurableObject(tenantObject(tenant));
  await tenant.deliver(delivery);
  expect(await totals({})).toMatchObject({ runs: 2, completed: 1, failed: 1 });
  expect((await usage()).total).toMatchObject({ runs: 2 });
});

test("usage after the end of a run counts on the day on which it was used", async () => {
  const a = new Teller(tenant, "a");
  const change = ended("a", "r", { status: "cancelled" });
  const used = { prompt_tokens: 7, completion_tokens: 3 };
  const later = {
    at: new Date(FIRST + DAY_MS).toISOString(),
    usage: used,
    models: { m: { ...used, cost: 2 } },
  };
  await a.tell(made(), change);
  expect(await totals(range(1))).toMatchObject({ runs: 0 });
  await a.tell({ ...change, later });
  expect(await totals({ status: "cancelled", ...range(1) })).toMatchObject({
    runs: 0,
    cost: 2,
    ...used,
  });
  expect(amounts(await totals({}))).toEqual(amounts((await usage()).total));
});

test("the runs of a deleted team are not listed any more, and count in the totals as in the report", async () => {
  const a = new Teller(tenant, "a");
  const change = ended("a", "r", { status: "failed" });
  await a.tell(made(), change);
  const created = Date.parse(change.run.created_at);
  await a.tell(
    { kind: "runs_deleted", runs: [{ status: "failed", created, id: "r" }] },
    { kind: "deleted", idempotency: null },
  );
  const again = new Teller(tenant, "a");
  await again.tell(made(), ended("a", "r2"));
  for (const query of [{}, { team: "a" }, range(0)]) {
    const page = value(await tenant.runs({ limit: 9, ...query }));
    expect(page.runs.map(({ id }) => id)).toEqual(["r2"]);
    expect(page.totals).toMatchObject({ runs: 2, failed: 1, completed: 1 });
  }
  expect((await usage()).total).toMatchObject({ runs: 2 });
});

test("a day whose totals were asked for costs one row more once it is over, and each late run of it another", async () => {
  const a = new Teller(tenant, "a");
  await a.tell(made(), ended("a", "r0"));
  await settled(tenant);
  const written = (): Promise<number> =>
    runInDurableObject(tenantObject(tenant), (object: Tenant) => object.rowsWritten);
  const cost = async (change: RunChange): Promise<number> => {
    const before = await written();
    await a.tell(change);
    return (await written()) - before;
  };
  await totals({});
  expect(await cost(ended("a", "r1"))).toBe(2);
  // The day of the team and the day of all teams.
  expect(await cost(ended("a", "r2", { day: 1 }))).toBe(4);
  expect(await cost(ended("a", "r3", { day: 1 }))).toBe(2);
  const late = await cost(ended("a", "r4", { day: 0 }));
  expect(late).toBe(4);
  expect(await totals(range(0))).toMatchObject({ runs: 3 });
  expect(await totals(range(1))).toMatchObject({ runs: 2 });
  await evictDurableObject(tenantObject(tenant));
  expect(await totals(range(0))).toMatchObject({ runs: 3 });
  expect(await totals({})).toMatchObject({ runs: 5 });
});
