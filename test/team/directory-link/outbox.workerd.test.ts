import { runInDurableObject } from "cloudflare:test";
import { describe, expect, test, vi } from "vitest";
import type { ListedRun, ListedTeam } from "#contract/directory.ts";
import { tenantStub } from "../support/tenant.ts";
import { agent, counter, roundRobin, TestTeam, value } from "../support/team.ts";
import version1 from "../support/version-1.sql?raw";
import { PATIENCE } from "../../support/patience.ts";

const tenant = tenantStub("tenant");

async function listed(team: TestTeam): Promise<ListedTeam | undefined> {
  const query = { q: team.id, metadata: {}, order: "newest" as const, limit: 10 };
  return value(await tenant.teams(query)).teams.find(({ id }) => id === team.id);
}

async function listedRuns(team: TestTeam): Promise<ListedRun[]> {
  return value(await tenant.runs({ team: team.id, limit: 100 })).runs;
}

const asker = () =>
  agent("asker", async function* (self, ctx) {
    yield* [];
    await ctx.ask({ id: ctx.id(), kind: "input", source: self.name, prompt: "Which?" });
    return "thanks";
  });

describe("a team's tenant", () => {
  test("lists it, its runs and their usage", async () => {
    const team = await TestTeam.create(roundRobin([counter("a")], 2));
    await team.delivered();
    expect(await listed(team)).toMatchObject({ status: "idle", provider: "RoundRobinGroupChat" });
    const run = await team.start("go", { metadata: { from: "test" } });
    await team.finished(run.id);
    await team.delivered();
    expect(await listed(team)).toMatchObject({ status: "idle", active_run: null });
    expect(await listedRuns(team)).toMatchObject([
      { id: run.id, team_id: team.id, status: "completed", turns: 2, metadata: { from: "test" } },
    ]);
  });

  test("shows a run that waits, and its question until it is answered", async () => {
    const team = await TestTeam.create(asker());
    const run = await team.start("go");
    await team.rested(run.id);
    await team.delivered();
    expect(await listed(team)).toMatchObject({ status: "waiting", active_run: run.id });
    const own = async () =>
      value(await tenant.requests({ limit: 200 })).requests.filter(
        ({ team_id }) => team_id === team.id,
      );
    const [question] = await own();
    expect(question).toMatchObject({ run_id: run.id, prompt: "Which?", kind: "input" });
    value(await team.gateway.answer(run.id, question?.id ?? "", { content: "this" }));
    await team.finished(run.id);
    await team.delivered();
    expect(await own()).toEqual([]);
    expect(await listedRuns(team)).toMatchObject([{ id: run.id, status: "completed" }]);
  });

  test("shows queued runs, cancels and starts of them", async () => {
    const team = await TestTeam.create(asker());
    const queue = { on_conflict: "queue" } as const;
    const first = await team.start("one");
    const asked = await team.rested(first.id);
    const second = await team.start("two", queue);
    const third = await team.start("three", queue);
    await team.delivered();
    const statuses = async () =>
      Object.fromEntries((await listedRuns(team)).map(({ id, status }) => [id, status]));
    const [one, two, three] = [first.id, second.id, third.id];
    expect(await statuses()).toEqual({ [one]: "waiting", [two]: "queued", [three]: "queued" });
    expect(await listed(team)).toMatchObject({ status: "waiting", active_run: one });
    value(await team.gateway.stopRun(two, "now"));
    value(await team.gateway.answer(one, asked.requests[0]?.id ?? "", { content: "this" }));
    await team.finished(one);
    await team.rested(three);
    await team.delivered();
    expect(await statuses()).toEqual({
      [one]: "completed",
      [two]: "cancelled",
      [three]: "waiting",
    });
    expect(await listed(team)).toMatchObject({ status: "waiting", active_run: three });
    await team.start("four", queue);
    value(await team.gateway.destroy());
    await vi.waitFor(async () => expect(await listedRuns(team)).toEqual([]), PATIENCE);
  });

  test("forgets a deleted team, which may be created again", async () => {
    const team = await TestTeam.create(asker());
    const run = await team.start("go");
    await team.rested(run.id);
    value(await team.gateway.destroy());
    expect(await team.gateway.team()).toMatchObject({ ok: false });
    await vi.waitFor(async () => expect(await listed(team)).toBeUndefined(), PATIENCE);
    expect(await listedRuns(team)).toEqual([]);
    await vi.waitFor(async () => {
      expect(await team.sql("select name from sqlite_master where name = 'outbox'")).toEqual([]);
    }, PATIENCE);
    value(
      await team.gateway.create({ id: team.id, label: "2", metadata: {}, component: counter("a") }),
    );
    await team.delivered();
    expect(await listed(team)).toMatchObject({ label: "2" });
  });

  test("lists a team again that is created right after it was deleted", async () => {
    const team = await TestTeam.create(counter("a"));
    await team.finished((await team.start("go")).id);
    value(await team.gateway.destroy());
    value(
      await team.gateway.create({ id: team.id, label: "2", metadata: {}, component: counter("a") }),
    );
    await team.delivered();
    expect(await listed(team)).toMatchObject({ label: "2" });
    expect(await listedRuns(team)).toEqual([]);
  });

  test("receives the news that a crash withheld", async () => {
    const team = await TestTeam.create(counter("a"));
    await team.delivered();
    const run = await team.start("go");
    await team.finished(run.id);
    await team.crash();
    value(await team.gateway.team());
    await team.delivered();
    expect(await listedRuns(team)).toMatchObject([{ id: run.id, status: "completed" }]);
  });

  test("lists a team of an earlier version as soon as it is loaded", async () => {
    const team = new TestTeam();
    await runInDurableObject(team.stub, (_instance, { storage }) => {
      storage.sql.exec(version1);
    });
    await team.evict();
    const { id } = value(await team.gateway.team());
    await team.delivered();
    const teams = value(
      await tenant.teams({ q: id, metadata: {}, order: "newest", limit: 10 }),
    ).teams;
    expect(teams).toMatchObject([{ id }]);
    expect(value(await tenant.runs({ team: id, limit: 10 })).runs).not.toEqual([]);
  });

  test("asks again for a team that it no longer knows", async () => {
    const team = await TestTeam.create(counter("a"));
    await team.delivered();
    await tenant.deliver({
      team: team.id,
      place: null,
      entries: [{ kind: "deleted", idempotency: null, number: Date.now() * 1000 }],
    });
    expect(await listed(team)).toBeUndefined();
    await team.finished((await team.start("go")).id);
    await team.delivered();
    expect(await listed(team)).toMatchObject({ status: "idle" });
  });

  test("needs no alarm of a team that has nothing to do", async () => {
    const team = await TestTeam.create(counter("a"));
    await team.finished((await team.start("go")).id);
    await team.delivered();
    await vi.waitFor(async () => expect(await team.alarm()).toBeNull(), PATIENCE);
  });
});
