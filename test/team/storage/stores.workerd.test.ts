import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import type { ScheduleRecord } from "#team/storage/schedule-store.ts";
import { Stores } from "#team/storage/stores.ts";
import { counter, TestTeam } from "../support/team.ts";

const RECORD: ScheduleRecord = {
  id: "nightly",
  enabled: true,
  last_at: null,
  last_run: null,
  last_error: null,
  created_at: "2026-11-28T00:00:00.000Z",
  when: { at: "2027-01-01T00:00:00.000Z" },
  run: {
    output_task_messages: true,
    on_conflict: "queue",
    timeout_seconds: null,
    max_total_tokens: null,
    max_cost: null,
    metadata: {},
  },
  idempotency: null,
};
const TASK = [{ type: "TextMessage" as const, source: "user", content: "Good night." }];
const AT = Date.parse("2027-01-01T00:00:00.000Z");

test("a failed transaction leaves nothing of a team's first schedule, and the next one stores it", async () => {
  const team = await TestTeam.create(counter("a"));
  await runInDurableObject(team.stub, (_instance, { storage }) => {
    const stores = new Stores(storage, false);
    const { schedules } = stores;
    const insert = (): unknown => schedules.insert(RECORD, AT, TASK);
    const failing = (): unknown =>
      stores.db.transaction(() => {
        insert();
        throw new Error("a full disk");
      });
    expect(failing).toThrow("a full disk");
    expect(schedules.page(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
    expect(schedules.times).toEqual(new Map());

    stores.db.transaction(insert);
    expect(schedules.byId("nightly")).toMatchObject({ next_at: AT, record: RECORD });
    expect(schedules.times).toEqual(new Map([["nightly", AT]]));
  });
});
