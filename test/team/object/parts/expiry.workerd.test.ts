import { expect, test } from "vitest";
import type { ComponentModel } from "troupe";
import { atTime, ringAt } from "../../support/clock.ts";
import { agent, counter, roundRobin, Signal, TestTeam, value } from "../../support/team.ts";

const MINUTE = 60_000;
const HOUR_S = 3600;

/** A team that is erased after an hour without a run. */
async function temporary(component: ComponentModel): Promise<TestTeam> {
  const team = new TestTeam();
  const { id } = team;
  const given = { id, label: null, metadata: {}, component, expires_in: HOUR_S };
  value(await team.gateway.create(given));
  return team;
}

async function exists(team: TestTeam): Promise<boolean> {
  const found = await team.gateway.team();
  if (!found.ok) expect(found.problem.code).toBe("team_not_found");
  return found.ok;
}

test("a team that was created for an hour is erased after an hour without a run, whatever happens in between", async () => {
  const team = await temporary(roundRobin([counter("one")], 1));
  const created = Date.now();
  const alarm = await team.alarm();
  expect(Math.abs(alarm! - created - 60 * MINUTE)).toBeLessThan(MINUTE);
  await team.crash();
  expect(await ringAt(team, created + 58 * MINUTE)).toBe(true);
  expect(await exists(team)).toBe(true);
  const run = await atTime(created + 59 * MINUTE, async () => {
    const { id } = await team.start("Go.");
    return team.finished(id);
  });
  expect(run.status).toBe("completed");
  await team.evict();
  expect(await ringAt(team, created + 61 * MINUTE)).toBe(true);
  expect(await exists(team)).toBe(true);
  expect(await ringAt(team, created + 121 * MINUTE)).toBe(true);
  expect(await exists(team)).toBe(false);
  await team.erased();
});

test("a run in progress keeps its team, and one that waits does not", async () => {
  const gate = new Signal();
  const busy = agent("busy", async function* (_self, ctx) {
    yield* [];
    return ctx.step("model:0", async () => {
      await gate.wait();
      return "done";
    });
  });
  const team = await temporary(roundRobin([busy], 1));
  const created = Date.now();
  const run = await team.start("Go.");
  expect(await ringAt(team, created + 61 * MINUTE)).toBe(true);
  expect(await exists(team)).toBe(true);
  gate.set();
  await team.finished(run.id);
  const waits = await temporary({ provider: "UserProxyAgent", config: { name: "human" } });
  const { id } = await waits.start("Go.");
  expect((await waits.rested(id)).status).toBe("waiting");
  expect(await ringAt(waits, created + 61 * MINUTE)).toBe(true);
  expect(await exists(waits)).toBe(false);
});

test("a conversation is erased after its time, and after ten minutes without any request", async () => {
  const desk = await TestTeam.create(roundRobin([counter("one")], 1));
  const model = value(await desk.gateway.conversationModel());
  const conversation = async (): Promise<TestTeam> => {
    const team = new TestTeam();
    const given = { id: team.id, owner: "o", caller: null, expires_in: 30 * 24 * HOUR_S };
    value(await team.gateway.createConversation(given, model));
    return team;
  };
  const [used, unused] = [await conversation(), await conversation()];
  const created = Date.now();
  await used.finished((await used.start("Go.")).id);
  for (const team of [used, unused]) {
    await team.evict();
    expect(await ringAt(team, created + 11 * MINUTE)).toBe(true);
  }
  expect([await exists(used), await exists(unused)]).toEqual([true, false]);
  expect(await ringAt(used, created + 29 * 24 * 60 * MINUTE)).toBe(true);
  expect(await exists(used)).toBe(true);
  expect(await ringAt(used, created + 31 * 24 * 60 * MINUTE)).toBe(true);
  expect(await exists(used)).toBe(false);
  await used.erased();
});

test("a fork of a conversation is erased, too, and any other team stays", async () => {
  const team = await temporary(roundRobin([counter("one")], 1));
  const created = Date.now();
  await team.finished((await team.start("Go.")).id);
  const fork = await team.fork();
  expect(await ringAt(fork, created + 61 * MINUTE)).toBe(true);
  // The alarm was set for the copy at first.
  if (await exists(fork)) expect(await ringAt(fork, created + 122 * MINUTE)).toBe(true);
  expect(await exists(fork)).toBe(false);
  const other = await TestTeam.create(roundRobin([counter("one")], 1));
  expect(await other.alarm()).toBeNull();
});
