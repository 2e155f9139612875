import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { beforeEach, expect, test } from "vitest";
import type { ListedRun, OutboxChange, OutboxEntry, TeamQuery } from "#contract/directory.ts";
import { settled, tenantObject, tenantStub, type TenantStub } from "../../team/support/tenant.ts";
import type { Tenant } from "../../team/support/worker.ts";
import { made, run, Teller as TellerOf } from "../support/teller.ts";

const ALL: TeamQuery = { metadata: {}, order: "newest", limit: 100 };

let tenant: TenantStub;
let count = 0;

class Teller extends TellerOf {
  constructor(id: string) {
    super(tenant, id);
  }
}

beforeEach(() => {
  tenant = tenantStub(`directory-${++count}`);
});

async function teams(query: Partial<TeamQuery> = {}): Promise<string[]> {
  const page = await tenant.teams({ ...ALL, ...query });
  if (!page.ok) throw new Error(page.problem.detail);
  return page.value.teams.map(({ id }) => id);
}

async function runs(
  query: { status?: ListedRun["status"]; limit?: number } = {},
): Promise<string[]> {
  const page = await tenant.runs({ limit: 100, ...query });
  if (!page.ok) throw new Error(page.problem.detail);
  return page.value.runs.map(({ id }) => id);
}

test("teams are listed by their last activity, active runs included", async () => {
  const [a, b, c] = [new Teller("a"), new Teller("b"), new Teller("c")];
  await a.tell(made());
  await b.tell(made());
  await c.tell(made());
  expect(await teams()).toEqual(["c", "b", "a"]);
  await a.tell(run("a", "r1", "running"));
  expect(await teams()).toEqual(["a", "c", "b"]);
  await b.tell(run("b", "r2", "running"), run("b", "r2", "completed"));
  expect(await teams()).toEqual(["b", "a", "c"]);
  await a.tell(run("a", "r1", "completed"));
  expect(await teams()).toEqual(["a", "b", "c"]);
  expect(await teams({ order: "oldest" })).toEqual(["c", "b", "a"]);
});

test("pages continue where they ended, also while teams move", async () => {
  const tellers = Array.from({ length: 7 }, (_, index) => new Teller(`t${index}`));
  for (const teller of tellers) await teller.tell(made());
  await tellers[2]?.tell(run("t2", "r", "running"));
  const seen: string[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < 10; page++) {
    const answer = await tenant.teams({ ...ALL, limit: 2, ...(cursor && { cursor }) });
    if (!answer.ok) throw new Error(answer.problem.detail);
    seen.push(...answer.value.teams.map(({ id }) => id));
    if (answer.value.next_cursor === null) break;
    cursor = answer.value.next_cursor;
  }
  expect(seen).toEqual(["t2", "t6", "t5", "t4", "t3", "t1", "t0"]);
});

test("teams are found by status, text and metadata", async () => {
  const [a, b, c] = [new Teller("alpha"), new Teller("b"), new Teller("c")];
  await a.tell(made("First", { env: "prod" }));
  await b.tell(made("Alphabet", { env: "dev" }));
  await c.tell(made(null, { env: "prod" }), run("c", "r", "waiting"));
  expect(await teams({ q: "ALPHA" })).toEqual(["b", "alpha"]);
  expect(await teams({ metadata: { env: "prod" } })).toEqual(["c", "alpha"]);
  expect(await teams({ status: "waiting" })).toEqual(["c"]);
  expect(await teams({ status: "idle" })).toEqual(["b", "alpha"]);
  expect(await teams({ metadata: { constructor: "x" } })).toEqual([]);
});

test("an entry is applied once, whatever was lost on the way", async () => {
  const a = new Teller("a");
  const entries = a.entries(made(), run("a", "r", "running"));
  const delivery = { team: "a", place: null, entries };
  const first = await tenant.deliver(delivery);
  expect(await tenant.deliver(delivery)).toEqual(first);
  await evictDurableObject(tenantObject(tenant));
  expect(await tenant.deliver(delivery)).toMatchObject({ number: 2 });
  const [end] = a.entries(run("a", "r", "completed"));
  // The acknowledgement of the first delivery got lost: the team still thinks it is in no place.
  const ended = await tenant.deliver({
    team: "a",
    place: null,
    entries: [...entries, end as OutboxEntry],
  });
  expect(ended.number).toBe(3);
  expect(await runs()).toEqual(["r"]);
  expect(await teams()).toEqual(["a"]);
  expect(await teams({ status: "idle" })).toEqual(["a"]);
});

test("runs are listed newest first over all teams, by status, and survive the object's end", async () => {
  const [a, b] = [new Teller("a"), new Teller("b")];
  await a.tell(made(), run("a", "r1", "completed", 1), run("a", "r3", "running", 3));
  await b.tell(made(), run("b", "r2", "failed", 2), run("b", "r4", "waiting", 4));
  await evictDurableObject(tenantObject(tenant));
  expect(await runs()).toEqual(["r4", "r3", "r2", "r1"]);
  expect(await runs({ status: "failed" })).toEqual(["r2"]);
  await a.tell(run("a", "r3", "cancelled", 3));
  expect(await runs({ status: "running" })).toEqual([]);
  expect(await runs({ status: "cancelled" })).toEqual(["r3"]);
  expect(await tenant.info()).toMatchObject({ ok: true, value: { teams: 2, active_runs: 1 } });
  const page = await tenant.runs({ limit: 3 });
  if (!page.ok || page.value.next_cursor === null) throw new Error("no second page");
  const rest = await tenant.runs({ limit: 3, cursor: page.value.next_cursor });
  expect(rest).toMatchObject({ ok: true, value: { runs: [{ id: "r1" }], next_cursor: null } });
});

test("a run that an earlier version reported has no task and answer, and is added up", async () => {
  const a = new Teller("a");
  const models = { m: { prompt_tokens: 5, completion_tokens: 0, cost: 0.25 } };
  const old = (id: string, minute: number): OutboxChange => {
    const change = run("a", id, "completed", minute);
    if (change.kind !== "run") throw new Error("no run");
    const reported: Partial<ListedRun> = { ...change.run, models };
    for (const field of ["task", "answer", "cost"] as const) delete reported[field];
    return { ...change, run: reported as ListedRun };
  };
  await a.tell(made(), old("r1", 1), old("r2", 2));
  const stored = (): Promise<unknown> => tenant.runs({ limit: 1, order: "cost", min_cost: 0.25 });
  const expected = {
    value: {
      runs: [{ id: "r2", task: null, answer: null, cost: 0.25 }],
      totals: { runs: 2, completed: 2, cost: 0.5, seconds: 60, p50_seconds: 30, complete: true },
    },
  };
  expect(await stored()).toMatchObject(expected);
  expect(await tenant.teams(ALL)).toMatchObject({
    value: { teams: [{ participants: [], last_run: { id: "r2", status: "completed" } }] },
  });
  await evictDurableObject(tenantObject(tenant));
  expect(await stored()).toMatchObject(expected);
});

test("totals report that a list has more runs than are counted, and pages continue", async () => {
  const a = new Teller("a");
  await a.tell(made(), run("a", "first", "completed", 0));
  await runInDurableObject(tenantObject(tenant), (_, { storage }) => {
    storage.sql.exec(
      `insert into run with recursive n(x) as (values (1) union all select x + 1 from n where x < 10000)
         select 'completed', created + 60000 + x, team, 'copy' || x,
           json_set(record, '$.run.id', 'copy' || x) from run, n where run.id = 'first'`,
    );
  });
  const page = await tenant.runs({ limit: 1, min_cost: 0 });
  if (!page.ok) throw new Error(page.problem.detail);
  const { totals } = page.value;
  expect(page.value.runs).toMatchObject([{ id: "copy10000" }]);
  expect(totals).toMatchObject({ runs: 10_000, complete: false });
  const rest = { limit: 1, min_cost: 0, totals_after: totals.next_cursor ?? "" };
  expect(await tenant.runs(rest)).toMatchObject({
    value: { totals: { runs: 1, complete: true, next_cursor: null } },
  });
  expect(await tenant.runs({ limit: 1, order: "cost" })).toMatchObject({
    value: { complete: false },
  });
  // The last one is beyond what the first page looks at.
  const searched = await tenant.runs({ limit: 5, q: "first" });
  if (!searched.ok) throw new Error(searched.problem.detail);
  expect(searched.value.runs).toEqual([]);
  const cursor = searched.value.next_cursor ?? "";
  expect(await tenant.runs({ limit: 5, q: "first", cursor })).toMatchObject({
    value: { runs: [{ id: "first" }], next_cursor: null },
  });
});

test("a cursor that is invalid is named", async () => {
  await new Teller("a").tell(made());
  for (const cursor of ["x", "!!", btoa('[2,"a"]'), btoa('[1,"a"]'), btoa("[1]")]) {
    for (const page of [
      await tenant.teams({ ...ALL, cursor }),
      await tenant.runs({ limit: 5, cursor }),
      await tenant.requests({ limit: 5, cursor }),
    ]) {
      expect(page).toMatchObject({
        ok: false,
        problem: { status: 422, errors: [{ path: "cursor" }] },
      });
    }
  }
});

test("questions stay in the inbox until they close", async () => {
  const a = new Teller("a");
  const created_at = "2026-01-02T00:00:00.000Z";
  const request = {
    id: "q1",
    team_id: "a",
    team_label: null,
    run_id: "r",
    task: "Write.",
    said: { source: "user", text: "Write." },
    kind: "approval" as const,
    source: "coder",
    prompt: "May I?",
    truncated: false,
    created_at,
    expires_at: null,
  };
  await a.tell(made(), { kind: "request", request });
  expect(await tenant.requests({ limit: 5 })).toMatchObject({ value: { requests: [request] } });
  expect(await tenant.requests({ limit: 5, kind: "input" })).toMatchObject({
    value: { requests: [] },
  });
  await a.tell({ kind: "request_closed", created_at, id: "q1" });
  expect(await tenant.requests({ limit: 5 })).toMatchObject({ value: { requests: [] } });
});

test("usage by user counts the runs of a deleted team and of its successor of the same day once", async () => {
  const ended = (id: string, user?: string): OutboxChange => {
    const change = run("a", id, "completed");
    if (change.kind !== "run") throw new TypeError("no run");
    return { ...change, run: { ...change.run, ...(user !== undefined && { user }) } };
  };
  const first = new Teller("a");
  await first.tell(made(), ended("r1", "ann"), ended("r2"));
  await first.tell({ kind: "deleted", idempotency: null });
  await new Teller("a").tell(made(), ended("r3", "ann"));
  const report = await tenant.usageReport({ from: "2026-01-02", to: "2026-01-02", by: ["user"] });
  if (!report.ok) throw new Error(report.problem.detail);
  const { usage, total } = report.value;
  expect(usage.map((row) => [row.user, row.runs])).toEqual([
    ["ann", 2],
    [undefined, 1],
  ]);
  expect(total).toMatchObject({ runs: 3, prompt_tokens: 15 });
});

test("a deleted team leaves nothing in the lists, and may be made again", async () => {
  const a = new Teller("a");
  await a.tell(made(), run("a", "r", "running"));
  const runs_deleted = [{ status: "running" as const, created: Date.UTC(2026, 0, 2), id: "r" }];
  await a.tell(
    { kind: "runs_deleted", runs: runs_deleted },
    { kind: "deleted", idempotency: null },
  );
  expect(await teams()).toEqual([]);
  expect(await runs()).toEqual([]);
  const again = new Teller("a");
  await again.tell(made("again"));
  expect(await teams()).toEqual(["a"]);
});

test("a run costs the tenant three rows, and a question none", async () => {
  const a = new Teller("a");
  await a.tell(made());
  const written = (): Promise<number> =>
    runInDurableObject(tenantObject(tenant), (object: Tenant) => object.rowsWritten);
  await a.tell(run("a", "r0", "running", 0), run("a", "r0", "completed", 0));
  await settled(tenant);
  const before = await written();
  for (let n = 1; n <= 10; n++) {
    await a.tell(run("a", `r${n}`, "running", n));
    await a.tell(run("a", `r${n}`, "completed", n));
  }
  expect((await written()) - before).toBe(30);
  await teams();
  await runs();
  expect((await written()) - before).toBe(30);
});
