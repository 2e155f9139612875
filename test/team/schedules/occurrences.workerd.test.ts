import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { describe, expect, test, vi } from "vitest";
import { atTime, ringAt } from "../support/clock.ts";
import { createSchedule, occurrencesOf, runsOf, scheduleOf } from "../support/schedules.ts";
import {
  agent,
  counter,
  roundRobin,
  Signal,
  startInput,
  TestTeam,
  value,
} from "../support/team.ts";
import { tenantStub } from "../support/tenant.ts";
import { PATIENCE } from "../../support/patience.ts";

const MONDAY = "2027-03-01T07:00:00.000Z";
const EIGHT = "2027-03-01T08:00:00.000Z";
const TUESDAY = "2027-03-02T08:00:00.000Z";

/** A team with the schedule `daily`, created on Monday at seven. */
async function scheduled(
  options: Parameters<typeof createSchedule>[1] = {},
  component = counter("a"),
  tenant?: string,
): Promise<TestTeam> {
  const team = await TestTeam.create(component, tenant);
  await team.delivered();
  await atTime(MONDAY, () => createSchedule(team, options));
  return team;
}

const asker = () =>
  agent("asker", async function* (self, ctx) {
    yield* [];
    await ctx.ask({ id: ctx.id(), kind: "input", source: self.name, prompt: "Which?" });
    return "thanks";
  });

describe("an occurrence", () => {
  test("starts a run that names its origin", async () => {
    const team = await scheduled({ metadata: { from: "test" }, timeout_seconds: 60 });
    expect(await team.alarm()).toBe(Date.parse(EIGHT));
    await ringAt(team, EIGHT);
    const [run] = await runsOf(team);
    expect(await team.finished(run!.id)).toMatchObject({
      status: "completed",
      metadata: { from: "test", schedule_id: "daily", scheduled_for: EIGHT },
      task: [{ content: "go" }],
    });
    expect(await scheduleOf(team)).toMatchObject({
      next_at: TUESDAY,
      last_at: EIGHT,
      last_run: run!.id,
      last_error: null,
      metadata: { from: "test" },
    });
    expect(await team.alarm()).toBe(Date.parse(TUESDAY));
  });

  test("comes in time after a clock that was days ahead", async () => {
    const team = await scheduled();
    await ringAt(team, "2027-03-05T08:00:00.000Z");
    await team.finished((await runsOf(team))[0]!.id);
    expect(await scheduleOf(team)).toMatchObject({ next_at: "2027-03-06T08:00:00.000Z" });
    // The first alarm after the clock was set back.
    await atTime("2027-03-02T07:00:00.000Z", async () => {
      await runDurableObjectAlarm(team.stub);
      await vi.waitFor(async () => {
        expect(await scheduleOf(team)).toMatchObject({ next_at: TUESDAY });
      }, PATIENCE);
    });
    await ringAt(team, TUESDAY);
    expect(await occurrencesOf(team)).toEqual(["2027-03-05T08:00:00.000Z", TUESDAY]);
  });

  test("comes in time after a clock that was days ahead, in an object that is loaded", async () => {
    const team = await scheduled();
    await ringAt(team, "2027-03-05T08:00:00.000Z");
    await team.finished((await runsOf(team))[0]!.id);
    await team.evict();
    await atTime("2027-03-02T07:00:00.000Z", async () => {
      await vi.waitFor(async () => {
        expect(await scheduleOf(team)).toMatchObject({ next_at: TUESDAY });
      }, PATIENCE);
      expect(await team.alarm()).toBe(Date.parse(TUESDAY));
    });
  });

  test("comes by itself", async () => {
    const team = await TestTeam.create(counter("a"));
    const at = new Date(Date.now() + 3_000).toISOString();
    await createSchedule(team, { at });
    await vi.waitFor(async () => expect(await occurrencesOf(team)).toEqual([at]), PATIENCE);
    expect(await scheduleOf(team)).toMatchObject({ next_at: null, last_at: at });
  });

  test("does not start before its time, when the alarm rings early", async () => {
    const team = await scheduled();
    await ringAt(team, "2027-03-01T07:59:59.999Z");
    expect(await runsOf(team)).toEqual([]);
    expect(await team.alarm()).toBe(Date.parse(EIGHT));
  });

  test("costs two rows besides those of its run", async () => {
    const rows = async (team: TestTeam, start: () => Promise<unknown>): Promise<number> => {
      await team.delivered();
      const before = await team.rowsWritten();
      await start();
      const [run] = (await runsOf(team)).slice(-1);
      await team.finished(run!.id);
      await team.delivered();
      return (await team.rowsWritten()) - before;
    };
    const plain = await TestTeam.create(roundRobin([counter("a")], 1));
    const metadata = { schedule_id: "daily", scheduled_for: EIGHT };
    const alone = await rows(plain, () => plain.start("go", { metadata }));
    const team = await scheduled({}, roundRobin([counter("a")], 1));
    expect(await rows(team, () => ringAt(team, EIGHT))).toBeLessThanOrEqual(alone + 2);
  });

  test("starts one run, also when the object dies before its next time is noted", async () => {
    const team = await scheduled();
    await ringAt(team, EIGHT);
    await team.finished((await runsOf(team))[0]!.id);
    await team.sql(`update schedule set next_at = ${Date.parse(EIGHT)}`);
    await team.crash();
    await team.sql("select 1");
    await vi.waitFor(async () => expect(await team.alarm()).not.toBeNull(), PATIENCE);
    await ringAt(team, "2027-03-01T08:00:20.000Z");
    expect(await occurrencesOf(team)).toEqual([EIGHT]);
    expect(await scheduleOf(team)).toMatchObject({ next_at: TUESDAY });
  });

  test("that was missed is made up once: the latest one", async () => {
    const team = await scheduled();
    await team.evict();
    await ringAt(team, "2027-03-04T12:00:00Z");
    expect(await occurrencesOf(team)).toEqual(["2027-03-04T08:00:00.000Z"]);
    expect(await scheduleOf(team)).toMatchObject({ next_at: "2027-03-05T08:00:00.000Z" });
  });

  test("that is due at a single time is made up however late it is", async () => {
    const team = await scheduled({ at: EIGHT });
    await ringAt(team, "2028-01-01T00:00:00Z");
    expect(await occurrencesOf(team)).toEqual([EIGHT]);
    expect(await scheduleOf(team)).toMatchObject({ next_at: null, enabled: true });
    expect(await team.alarm()).toBeNull();
  });

  test("that a lost alarm would have started comes once the team is loaded", async () => {
    const team = await scheduled();
    await runInDurableObject(team.stub, (_instance, { storage }) => storage.deleteAlarm());
    await team.evict();
    await atTime(MONDAY, async () => {
      value(await team.gateway.team());
      await vi.waitFor(async () => expect(await team.alarm()).toBe(Date.parse(EIGHT)), PATIENCE);
    });
  });
});

describe("an occurrence while a run is active", () => {
  test("is skipped with reject, and the schedule reports it", async () => {
    const team = await scheduled({}, asker());
    const { id } = await team.start("go");
    await team.rested(id);
    await ringAt(team, EIGHT);
    expect(await runsOf(team)).toHaveLength(1);
    const schedule = await scheduleOf(team);
    expect(schedule).toMatchObject({
      next_at: TUESDAY,
      last_at: null,
      last_run: null,
      last_error: { code: "team_busy", scheduled_for: EIGHT },
    });
    expect(schedule.last_error?.message).toContain(id);
    value(await team.gateway.stopRun(id, "now"));
    await ringAt(team, TUESDAY);
    expect(await scheduleOf(team)).toMatchObject({ last_at: TUESDAY, last_error: null });
  });

  test("replaces the run with interrupt", async () => {
    const team = await scheduled({ on_conflict: "interrupt" }, asker());
    const { id } = await team.start("go");
    await team.rested(id);
    await ringAt(team, EIGHT);
    expect(await team.run(id)).toMatchObject({ status: "cancelled" });
    expect(await occurrencesOf(team)).toEqual([undefined, EIGHT]);
  });

  test("waits for its turn with queue", async () => {
    const team = await scheduled({ on_conflict: "queue" }, asker());
    const { id } = await team.start("go");
    await team.rested(id);
    await ringAt(team, EIGHT);
    const [, queued] = await runsOf(team);
    expect(queued).toMatchObject({ status: "queued", metadata: { scheduled_for: EIGHT } });
    expect(await scheduleOf(team)).toMatchObject({ next_at: TUESDAY, last_run: queued!.id });
    value(await team.gateway.stopRun(id, "now"));
    expect(await team.rested(queued!.id)).toMatchObject({ status: "waiting" });
    await ringAt(team, TUESDAY);
    expect(await occurrencesOf(team)).toEqual([undefined, EIGHT, TUESDAY]);
  });

  test("that another schedule has at the same time does not run, and the first one does", async () => {
    const team = await scheduled({}, asker());
    await atTime(MONDAY, () => createSchedule(team, { id: "second" }));
    await ringAt(team, EIGHT);
    expect(await runsOf(team)).toHaveLength(1);
    expect(await scheduleOf(team)).toMatchObject({ last_at: EIGHT });
    expect(await scheduleOf(team, "second")).toMatchObject({
      last_error: { code: "team_busy", scheduled_for: EIGHT },
    });
  });
});

describe("an occurrence over a limit of the tenant", () => {
  const limited = async (name: string): Promise<TestTeam> => {
    value(await tenantStub(name).put({ limits: { active_runs: 0 } }));
    return scheduled({}, counter("a"), name);
  };

  test("is tried again until there is room", async () => {
    const team = await limited("schedule-limited");
    await ringAt(team, EIGHT);
    expect(await runsOf(team)).toEqual([]);
    expect(await scheduleOf(team)).toMatchObject({
      next_at: EIGHT,
      last_error: { code: "too_many_active_runs", scheduled_for: EIGHT },
    });
    expect(await team.alarm()).toBe(Date.parse(EIGHT) + 15_000);
    const rows = await team.rowsWritten();
    await ringAt(team, "2027-03-01T08:00:15Z");
    expect(await team.rowsWritten()).toBe(rows);
    value(await tenantStub("schedule-limited").put({ limits: { active_runs: 9 } }));
    await team.evict();
    await ringAt(team, "2027-03-01T08:00:30Z");
    expect(await occurrencesOf(team)).toEqual([EIGHT]);
    expect(await scheduleOf(team)).toMatchObject({ next_at: TUESDAY, last_error: null });
  });

  test("gives way to the next one", async () => {
    const team = await limited("schedule-limited-long");
    await ringAt(team, EIGHT);
    await ringAt(team, "2027-03-02T07:59:55Z");
    expect(await team.alarm()).toBe(Date.parse(TUESDAY));
    value(await tenantStub("schedule-limited-long").put({ limits: { active_runs: 9 } }));
    await ringAt(team, TUESDAY);
    expect(await occurrencesOf(team)).toEqual([TUESDAY]);
  });
});

test("a run that the alarm keeps alive does not delay a schedule, and the other way round", async () => {
  const arrived = new Signal();
  const component = agent("a", async function* (_self, ctx) {
    yield* [];
    return ctx.step("held", async () => {
      arrived.set();
      await new Promise(() => {});
      return "";
    });
  });
  const team = await TestTeam.create(component);
  await team.delivered();
  const soon = Date.now() + 3_600_000;
  await createSchedule(team, { at: new Date(soon).toISOString(), on_conflict: "interrupt" });
  const run = value(await team.gateway.startRun(startInput("go")));
  await arrived.wait();
  expect(await team.alarm()).toBeLessThan(Date.now() + 60_000);
  value(await team.gateway.stopRun(run.id, "now"));
  expect(await team.alarm()).toBe(soon);
});
