import { describe, expect, test } from "vitest";
import { atTime, ringAt } from "../support/clock.ts";
import {
  createSchedule,
  occurrencesOf,
  runsOf,
  scheduleInput,
  scheduleOf,
} from "../support/schedules.ts";
import { agent, counter, TestTeam, value } from "../support/team.ts";

const MONDAY = "2027-03-01T07:00:00.000Z";
const EIGHT = "2027-03-01T08:00:00.000Z";

async function scheduled(options: Parameters<typeof createSchedule>[1] = {}): Promise<TestTeam> {
  const team = await TestTeam.create(counter("a"));
  await team.delivered();
  await atTime(MONDAY, () => createSchedule(team, options));
  return team;
}

function change(team: TestTeam, changes: Parameters<TestTeam["gateway"]["changeSchedule"]>[1]) {
  return team.gateway.changeSchedule("daily", changes);
}

function refused(path: string, message: string) {
  const errors = [{ path, message: expect.stringContaining(message) as string }];
  return { ok: false, problem: { status: 422, code: "invalid_schedule", errors } };
}

describe("the creation of a schedule", () => {
  test.each([
    ["61 * * * *", "minute"],
    ["0 8 * * 1-9", "dayOfWeek"],
    ["* * * * * *", "6 parts"],
    ["@reboot", "@reboot"],
    ["0 0 30 2 *", "matches no date"],
  ])("refuses the cron expression %s", async (cron, message) => {
    const team = await TestTeam.create(counter("a"));
    const created = await team.gateway.createSchedule(scheduleInput({ cron }));
    expect(created).toMatchObject(refused("cron", message));
    expect(await team.sql("select name from sqlite_master where name = 'schedule'")).toEqual([]);
  });

  test("refuses a time in the past", async () => {
    const team = await TestTeam.create(counter("a"));
    const created = await team.gateway.createSchedule(
      scheduleInput({ at: "2026-01-01T00:00:00Z" }),
    );
    expect(created).toMatchObject(refused("at", "past"));
  });

  test("answers the same request the same, and another one with the id or the key with an error", async () => {
    const team = await TestTeam.create(counter("a"));
    const idempotency = { key: "k", hash: "h" };
    const first = await createSchedule(team, { idempotency });
    expect(await createSchedule(team, { idempotency })).toEqual(first);
    const other = { ...scheduleInput(), idempotency: { key: "k", hash: "other" } };
    expect(await team.gateway.createSchedule(other)).toMatchObject({
      problem: { status: 422, code: "idempotency_mismatch" },
    });
    expect(await team.gateway.createSchedule(scheduleInput())).toMatchObject({
      problem: { status: 409, code: "schedule_exists" },
    });
  });

  test("refuses more than a hundred, and lists all of them in pages", async () => {
    const team = await TestTeam.create(counter("a"));
    for (let count = 0; count < 100; count++) await createSchedule(team, { id: `s${count}` });
    expect(await team.gateway.createSchedule(scheduleInput())).toMatchObject({
      problem: { status: 429, code: "too_many_schedules", extra: { value: 100 } },
    });
    const first = value(await team.gateway.schedules({ limit: 60 }));
    expect(first.schedules[0]?.id).toBe("s99");
    const cursor = first.next_cursor ?? "";
    const rest = value(await team.gateway.schedules({ limit: 60, cursor }));
    expect(rest.schedules.at(-1)?.id).toBe("s0");
    expect(rest.next_cursor).toBeNull();
    expect(await team.gateway.schedules({ limit: 1, cursor: "x" })).toMatchObject({
      problem: { code: "invalid_cursor" },
    });
    value(await team.gateway.deleteSchedule("s5"));
    await createSchedule(team);
  });

  test("keeps a task that is too large for a row", async () => {
    const team = await TestTeam.create(counter("a"));
    const content = "x".repeat(2_500_000);
    const task = [{ type: "TextMessage", source: "user", content }] as never;
    await createSchedule(team, { task });
    await team.evict();
    const run = value(await team.gateway.runSchedule("daily"));
    expect(await team.finished(run.id)).toMatchObject({ task: [{ content }] });
    value(await team.gateway.deleteSchedule("daily"));
    expect(await team.sql("select owner from part where owner like 'schedule%'")).toEqual([]);
  });
});

describe("a change of a schedule", () => {
  test("moves the next occurrence, and the alarm with it", async () => {
    const team = await scheduled();
    const changed = await atTime(MONDAY, () => change(team, { cron: "30 9 * * *" }));
    expect(changed).toMatchObject({ value: { next_at: "2027-03-01T09:30:00.000Z" } });
    expect(await team.alarm()).toBe(Date.parse("2027-03-01T09:30:00Z"));
    const zoned = await atTime(MONDAY, () => change(team, { timezone: "Europe/Berlin" }));
    expect(zoned).toMatchObject({
      value: { cron: "30 9 * * *", next_at: "2027-03-01T08:30:00.000Z" },
    });
    const once = await atTime(MONDAY, () => change(team, { at: "2027-03-01T10:00:00+01:00" }));
    const at = "2027-03-01T09:00:00.000Z";
    expect(once).toMatchObject({ value: { cron: null, timezone: null, at, next_at: at } });
    expect(await change(team, { timezone: "UTC" })).toMatchObject(refused("timezone", "cron"));
    const again = await atTime(MONDAY, () => change(team, { cron: "@daily" }));
    expect(again).toMatchObject({ value: { at: null, timezone: "UTC" } });
  });

  test("applies to the start of its runs, and to nothing else", async () => {
    const team = await scheduled({ metadata: { a: 1 } });
    const before = await scheduleOf(team);
    const task = [{ type: "TextMessage", source: "user", content: "other" }] as never;
    value(await change(team, { task, max_total_tokens: 5 }));
    expect(await scheduleOf(team)).toEqual({ ...before, task, max_total_tokens: 5 });
    const rows = await team.rowsWritten();
    value(await change(team, { max_total_tokens: 5 }));
    expect(await team.rowsWritten()).toBe(rows);
  });

  test("that contains a mistake has no effect", async () => {
    const team = await scheduled();
    const before = await scheduleOf(team);
    expect(await change(team, { cron: "x x x x x", max_total_tokens: 5 })).toMatchObject(
      refused("cron", "x"),
    );
    expect(await scheduleOf(team)).toEqual(before);
    expect(await team.gateway.changeSchedule("other", {})).toMatchObject({
      problem: { status: 404, code: "schedule_not_found" },
    });
  });

  test("that disables it removes its occurrence and alarm, and the change back makes up nothing", async () => {
    const team = await scheduled();
    value(await change(team, { enabled: false }));
    expect(await scheduleOf(team)).toMatchObject({ enabled: false, next_at: null });
    expect(await team.alarm()).toBeNull();
    const friday = "2027-03-05T12:00:00Z";
    value(await atTime(friday, () => change(team, { enabled: true })));
    await ringAt(team, friday);
    expect(await runsOf(team)).toEqual([]);
    expect(await scheduleOf(team)).toMatchObject({ next_at: "2027-03-06T08:00:00.000Z" });
  });

  test("is refused for a single time that passed while it was disabled", async () => {
    const team = await scheduled({ at: EIGHT, enabled: false });
    const enabled = await atTime("2027-03-02T00:00:00Z", () => change(team, { enabled: true }));
    expect(enabled).toMatchObject(refused("at", "past"));
    expect(await scheduleOf(team)).toMatchObject({ enabled: false });
  });

  test("that deletes it removes its alarm, and its runs stay", async () => {
    const team = await scheduled();
    await ringAt(team, EIGHT);
    await team.finished((await runsOf(team))[0]!.id);
    value(await team.gateway.deleteSchedule("daily"));
    expect(await team.alarm()).toBeNull();
    expect(await occurrencesOf(team)).toEqual([EIGHT]);
    expect(await team.gateway.schedule("daily")).toMatchObject({ problem: { status: 404 } });
    expect(await team.gateway.deleteSchedule("daily")).toMatchObject({ problem: { status: 404 } });
  });
});

describe("a run on demand", () => {
  test("leaves the next occurrence, also of a disabled schedule", async () => {
    const team = await scheduled();
    const idempotency = { key: "k", hash: "h" };
    const run = value(await atTime(MONDAY, () => team.gateway.runSchedule("daily", idempotency)));
    expect(run).toMatchObject({ metadata: { schedule_id: "daily", scheduled_for: MONDAY } });
    await team.finished(run.id);
    expect(value(await team.gateway.runSchedule("daily", idempotency)).id).toBe(run.id);
    expect(await scheduleOf(team)).toMatchObject({
      next_at: EIGHT,
      last_at: MONDAY,
      last_run: run.id,
    });
    value(await change(team, { enabled: false }));
    const second = value(await team.gateway.runSchedule("daily"));
    expect(second.id).not.toBe(run.id);
    expect(await scheduleOf(team)).toMatchObject({ next_at: null, last_run: second.id });
  });

  test("is refused like any run", async () => {
    const asker = agent("asker", async function* (self, ctx) {
      yield* [];
      await ctx.ask({ id: ctx.id(), kind: "input", source: self.name, prompt: "Which?" });
      return "thanks";
    });
    const team = await TestTeam.create(asker);
    await createSchedule(team);
    const run = value(await team.gateway.runSchedule("daily"));
    expect(await team.gateway.runSchedule("daily")).toMatchObject({
      problem: { status: 409, code: "team_busy", extra: { run_id: run.id } },
    });
    expect(await scheduleOf(team)).toMatchObject({ last_run: run.id, last_error: null });
    expect(await team.gateway.runSchedule("other")).toMatchObject({ problem: { status: 404 } });
  });
});

describe("a team with a schedule", () => {
  test("keeps it over a reset and another component, and its forks have none", async () => {
    const team = await scheduled();
    const before = await scheduleOf(team);
    value(await team.gateway.reset());
    value(await team.gateway.replaceComponent(counter("b")));
    await team.evict();
    expect(await scheduleOf(team)).toEqual(before);
    const fork = await team.fork();
    expect(value(await fork.gateway.schedules({ limit: 10 })).schedules).toEqual([]);
    expect(await fork.alarm()).toBeNull();
  });

  test("loses it when it is deleted, also for a later team with its id", async () => {
    const team = await scheduled();
    value(await team.gateway.destroy());
    expect(await team.gateway.schedules({ limit: 10 })).toMatchObject({
      problem: { code: "team_not_found" },
    });
    const component = counter("a");
    value(await team.gateway.create({ id: team.id, label: null, metadata: {}, component }));
    expect(value(await team.gateway.schedules({ limit: 10 })).schedules).toEqual([]);
    expect(await team.alarm()).toBeNull();
  });
});
