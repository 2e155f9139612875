import { describe, expect, test } from "vitest";
import type { ComponentModel } from "troupe";
import { counter, roundRobin, TestTeam, value } from "../../support/team.ts";

/** A component that differs from others by its limit. */
function ending(turns: number): ComponentModel {
  return roundRobin([counter("a")], turns);
}

async function teamWith(turns: readonly number[]): Promise<TestTeam> {
  const [first = 1, ...others] = turns;
  const team = await TestTeam.create(ending(first));
  for (const next of others) await replace(team, next);
  return team;
}

async function replace(team: TestTeam, turns: number, by = "anna"): Promise<void> {
  value(await team.gateway.replaceComponent(ending(turns), { by }));
}

async function versions(team: TestTeam, query: { cursor?: string; limit?: number } = {}) {
  return value(await team.gateway.versions({ limit: 500, ...query }));
}

async function numbers(team: TestTeam): Promise<number[]> {
  return (await versions(team)).versions.map((version) => version.component_version);
}

/** The limit of a version's component. */
async function turnsOf(team: TestTeam, version: number): Promise<unknown> {
  const { component } = value(await team.gateway.version(String(version)));
  return component.config["max_turns"];
}

const NOT_FOUND = { ok: false, problem: { status: 404, code: "version_not_found" } };

describe("the versions of a team", () => {
  test("are one for each component it has had, with who made it", async () => {
    const team = await TestTeam.create(ending(1));
    const made = value(await team.gateway.team()).created_at;
    const first = { component_version: 1, by: null, label: null, note: null };
    expect(await versions(team)).toEqual({
      versions: [{ ...first, created_at: made, current: true }],
      next_cursor: null,
    });
    await replace(team, 2, "anna");
    await replace(team, 3, "ben");
    for (const _ of ["in memory", "after a restart"]) {
      expect((await versions(team)).versions).toMatchObject([
        { component_version: 3, by: "ben", current: true },
        { component_version: 2, by: "anna", current: false },
        { ...first, created_at: made, current: false },
      ]);
      expect(await Promise.all([1, 2, 3].map((n) => turnsOf(team, n)))).toEqual([1, 2, 3]);
      await team.evict();
    }
    for (const name of ["4", "0", "two", "1.0", "99999999999999999999"]) {
      expect(await team.gateway.version(name)).toMatchObject(NOT_FOUND);
    }
  });

  test("have pages", async () => {
    const team = await teamWith([1, 2, 3, 4, 5]);
    const pages: number[][] = [];
    let cursor: string | null = null;
    do {
      const page = await versions(team, { limit: 2, ...(cursor !== null && { cursor }) });
      pages.push(page.versions.map((version) => version.component_version));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(pages).toEqual([[5, 4], [3, 2], [1]]);
    expect(await team.gateway.versions({ cursor: "latest", limit: 2 })).toMatchObject({
      problem: { status: 422, code: "invalid_cursor" },
    });
  });

  test("have notes, and labels of which each belongs to one", async () => {
    const team = await teamWith([1, 2]);
    const change = async (n: number, changes: { label?: string | null; note?: string | null }) =>
      value(await team.gateway.changeVersion(String(n), changes));
    expect(await change(1, { label: "released", note: "The first." })).toMatchObject({
      component_version: 1,
      label: "released",
      note: "The first.",
      current: false,
    });
    expect(await change(2, { label: "released" })).toMatchObject({ label: "released", note: null });
    await team.evict();
    const labels = async (): Promise<(string | null)[]> =>
      (await versions(team)).versions.map(({ label }) => label);
    expect(await labels()).toEqual(["released", null]);
    expect(await change(1, { note: "" })).toMatchObject({ label: null, note: null });
    await change(2, { label: null });
    expect(await labels()).toEqual([null, null]);
    expect(await team.gateway.changeVersion("3", { label: "next" })).toMatchObject(NOT_FOUND);
  });

  test("can have a label before the component was ever changed", async () => {
    const team = await TestTeam.create(ending(1));
    value(await team.gateway.changeVersion("1", { label: "first" }));
    await team.evict();
    await replace(team, 2);
    expect((await versions(team)).versions).toMatchObject([
      { component_version: 2, label: null },
      { component_version: 1, label: "first" },
    ]);
    expect(await turnsOf(team, 1)).toBe(1);
  });

  test("are kept: the latest 200, and those with a label", async () => {
    const team = await teamWith([1, 2, 3]);
    value(await team.gateway.changeVersion("2", { label: "released" }));
    for (let turns = 4; turns <= 203; turns++) await replace(team, turns);
    const latest = Array.from({ length: 200 }, (_, index) => 203 - index);
    expect(await numbers(team)).toEqual([...latest, 2]);
    expect(await turnsOf(team, 2)).toBe(2);
    for (const gone of ["1", "3"]) {
      expect(await team.gateway.version(gone)).toMatchObject(NOT_FOUND);
      expect(await team.gateway.restoreVersion(gone)).toMatchObject(NOT_FOUND);
    }
    const stored = "select count(*) as n from meta where name glob 'component:*'";
    expect(await team.sql(stored)).toEqual([{ n: 200 }]);
    value(await team.gateway.changeVersion("2", { label: null }));
    expect(await numbers(team)).toEqual(latest);
    expect(await team.sql(stored)).toEqual([{ n: 199 }]);
    const refused = await team.gateway.fork({ id: crypto.randomUUID(), turn: 0 });
    expect(refused).toMatchObject({
      problem: { status: 422, code: "unknown_turn", errors: [{ path: "turn" }] },
    });
  });

  test("that have run can be forked at their turns, also when they are not listed any more", async () => {
    const team = await teamWith([1]);
    const { turn } = await team.finished((await team.start("go")).id);
    for (let turns = 2; turns <= 202; turns++) await replace(team, turns);
    expect(await team.gateway.version("1")).toMatchObject(NOT_FOUND);
    const fork = await team.fork(turn);
    expect(value(await fork.gateway.team()).component.config["max_turns"]).toBe(1);
  });

  test("begin at 1 in a fork, made by who has forked it", async () => {
    const team = await teamWith([1, 2]);
    const fork = new TestTeam();
    value(await team.gateway.fork({ id: fork.id, turn: null, by: "ben" }));
    expect((await versions(fork)).versions).toMatchObject([
      { component_version: 1, by: "ben", current: true },
    ]);
  });

  test("are not changed by a component that is refused", async () => {
    const team = await teamWith([1, 2]);
    await team.finished((await team.start("go")).id);
    const before = await versions(team);
    const strange = await team.gateway.replaceComponent(roundRobin([counter("z")], 1));
    expect(strange).toMatchObject({ problem: { status: 422 } });
    expect(await versions(team)).toEqual(before);
  });
});

describe("a version that is restored", () => {
  test("becomes a new version, with the state that still fits", async () => {
    const team = await teamWith([1, 2]);
    await team.finished((await team.start("go")).id);
    const restored = value(await team.gateway.restoreVersion("1", { by: "anna" }));
    expect(restored).toMatchObject({
      component_version: 3,
      component: { config: { max_turns: 1 } },
    });
    await team.evict();
    expect((await versions(team)).versions).toMatchObject([
      { component_version: 3, by: "anna", note: "Version 1 restored.", current: true },
      { component_version: 2 },
      { component_version: 1 },
    ]);
    const run = await team.finished((await team.start("go on")).id);
    expect(run).toMatchObject({ status: "completed", component_version: 3 });
    expect(value(await team.gateway.messages({ limit: 50 })).messages.length).toBeGreaterThan(3);
  });

  test("takes the place of the versions that the request names only", async () => {
    const team = await teamWith([1, 2]);
    const stale = await team.gateway.restoreVersion("1", { versions: ["1"] });
    expect(stale).toMatchObject({ problem: { status: 412, code: "component_replaced" } });
    for (const _ of ["first", "repeated"]) {
      const answer = value(await team.gateway.restoreVersion("1", { versions: ["2"] }));
      expect(answer.component_version).toBe(3);
    }
  });

  test("is refused while a run is active, and where it would lose a part of the state", async () => {
    const team = await TestTeam.create(ending(1));
    value(await team.gateway.replaceComponent(roundRobin([counter("a"), counter("b")], 2)));
    await team.finished((await team.start("go")).id);
    expect(await team.gateway.restoreVersion("1")).toMatchObject({
      problem: { status: 422, code: "invalid_state", errors: [{ path: "agent_states.b" }] },
    });
    expect(await numbers(team)).toEqual([2, 1]);
  });
});
