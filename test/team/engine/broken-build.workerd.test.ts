import { describe, expect, test } from "vitest";
import { counter, roundRobin, TestTeam, texts, value } from "../support/team.ts";

/** A deploy that no longer knows what a stored component names. */
async function forget(team: TestTeam): Promise<void> {
  await team.sql(
    "update meta set value = replace(value, 'test.ScriptedAgent', 'gone.Agent') where name = 'component'",
  );
  await team.evict();
}

describe("a team whose component can no longer be built", () => {
  test("can be read, fails its runs, and is repaired by another component", async () => {
    const first = counter("a");
    const team = await TestTeam.create(roundRobin([first], 1));
    await team.finished((await team.start("one")).id);
    await forget(team);

    expect(value(await team.gateway.team())).toMatchObject({ status: "idle" });
    expect(value(await team.gateway.messages({ limit: 10 })).messages).toHaveLength(2);
    const unknown = { ok: false, problem: { status: 422, code: "component_unknown_provider" } };
    expect(await team.gateway.saveState()).toMatchObject(unknown);
    expect(await team.gateway.reset()).toMatchObject(unknown);
    expect(await team.gateway.loadState({})).toMatchObject(unknown);
    const failed = await team.finished((await team.start("two")).id);
    expect(failed).toMatchObject({
      status: "failed",
      error: { type: "component_unknown_provider" },
      turns: 0,
    });
    expect(await team.alarm()).toBeNull();

    value(await team.gateway.replaceComponent(roundRobin([first], 1)));
    expect(texts(await team.finished((await team.start("three")).id))).toEqual(["three", "a 2"]);
  });

  test("is not repaired by one that its state does not fit", async () => {
    const team = await TestTeam.create(roundRobin([counter("a")], 1));
    await team.finished((await team.start("one")).id);
    await forget(team);
    expect(await team.gateway.replaceComponent(roundRobin([counter("b")], 1))).toMatchObject({
      ok: false,
      problem: { status: 422, code: "invalid_state" },
    });
    expect(await team.gateway.replaceComponent(counter("a"))).toMatchObject({
      ok: false,
      problem: { status: 422, code: "invalid_state" },
    });
  });
});
