import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { counter, TestTeam, value } from "../support/team.ts";

const TIME = Date.parse("2026-11-30T09:00:00Z");

test("a recovery restarts the object after it has named the moment", async () => {
  const team = await TestTeam.create(counter("a"));
  const asked: unknown[] = [];
  // Stands in for the history that Cloudflare keeps, which workerd does not have.
  await runInDurableObject(team.stub, (instance, { storage }) => {
    Object.assign(instance, { isBeforeRecovery: true });
    Object.defineProperties(storage, {
      getBookmarkForTime: { value: async (time: number) => `bookmark of ${time}` },
      onNextSessionRestoreBookmark: { value: async (bookmark: string) => asked.push(bookmark) },
    });
  });
  expect(value(await team.gateway.recover(TIME))).toBeNull();
  expect(asked).toEqual([`bookmark of ${TIME}`]);
  const isSame = await runInDurableObject(team.stub, (instance) => "isBeforeRecovery" in instance);
  expect(isSame).toBe(false);
  expect(value(await team.gateway.team())).toMatchObject({ id: team.id });
});

test("a recovery without a history is refused, and the team continues", async () => {
  const team = await TestTeam.create(counter("a"));
  expect(await team.gateway.recover(TIME)).toMatchObject({
    ok: false,
    problem: { status: 503, code: "recovery_unavailable" },
  });
  expect(value(await team.gateway.team())).toMatchObject({ id: team.id });
});
