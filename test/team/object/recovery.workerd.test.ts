import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { counter, TestTeam, value } from "../support/team.ts";

const TIME = Date.parse("2026-11-30T09:00:00Z");

/** Stands in for the history that Cloudflare keeps, which workerd does not have. @returns the bookmarks that are asked for */
async function withHistory(team: TestTeam): Promise<unknown[]> {
  const asked: unknown[] = [];
  await runInDurableObject(team.stub, (_, { storage }) => {
    Object.defineProperties(storage, {
      getBookmarkForTime: { value: async (time: number) => `bookmark of ${time}` },
      onNextSessionRestoreBookmark: { value: async (bookmark: string) => asked.push(bookmark) },
    });
  });
  return asked;
}

test("a recovery restarts the object after it has named the moment", async () => {
  const team = await TestTeam.create(counter("a"));
  const asked = await withHistory(team);
  await runInDurableObject(team.stub, (instance) => {
    Object.assign(instance, { isBeforeRecovery: true });
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

test("a recovery of a team that is unknown is refused with 404", async () => {
  const team = new TestTeam();
  await withHistory(team);
  expect(await team.gateway.recover(TIME)).toMatchObject({
    ok: false,
    problem: { status: 404, code: "team_not_found" },
  });
});

test("a recovery whose object could not be restarted is an error", async () => {
  const team = await TestTeam.create(counter("a"));
  await withHistory(team);
  await runInDurableObject(team.stub, (_, state) => {
    Object.defineProperty(state, "abort", {
      value: () => {
        throw new Error("the object could not be restarted");
      },
    });
  });
  await expect(team.gateway.recover(TIME)).rejects.toThrow("could not be restarted");
});
