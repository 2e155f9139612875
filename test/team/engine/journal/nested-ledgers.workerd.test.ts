import { expect, test } from "vitest";
import type { ComponentModel } from "troupe";
import type { TurnInfo } from "#contract/turn.ts";
import { magenticOne, society, speaker } from "../../support/components.ts";
import { Effects } from "../../support/effects.ts";
import { roundRobin, TestTeam, value } from "../../support/team.ts";

/** A Magentic-One team in the mind of an agent, in a team. */
const nested = (effects: Effects): ComponentModel =>
  roundRobin(
    [
      society(
        effects,
        "mind",
        magenticOne(effects, ["a", "b"], [speaker(effects, "a"), speaker(effects, "b")]),
      ),
    ],
    1,
  );

const ledgersOf = async (team: TestTeam): Promise<TurnInfo["nested_ledgers"][]> =>
  value(await team.gateway.turns({ limit: 50 })).turns.map((turn) => turn.nested_ledgers);

test("a turn that begins again after a crash records the ledgers of a team inside it once, in the row that it has anyway", async () => {
  const undisturbed = await TestTeam.create(nested(new Effects()));
  await undisturbed.finished((await undisturbed.start("go")).id);
  const [before, ledgers] = await ledgersOf(undisturbed);
  expect(before).toEqual([]);
  expect(ledgers?.length).toBeGreaterThan(4);
  expect(ledgers?.every(({ team }) => team.join(" ") === "mind")).toBe(true);
  expect(
    ledgers
      ?.filter(({ task_ledger }) => task_ledger !== null)
      .map(({ task_ledger }) => task_ledger),
  ).toEqual([
    { facts: "the facts", plan: "the plan" },
    { facts: "the new facts", plan: "the new plan" },
  ]);
  const rows = await undisturbed.sql<{ path: string }>(
    "select path from head where body like '%the new facts%' and path = ''",
  );
  expect(rows).toEqual([{ path: "" }]);

  const effects = new Effects();
  const team = await TestTeam.create(nested(effects));
  const place = "1/speaker:mind/model:0";
  const release = effects.hold(place);
  const { id } = await team.start("go");
  await effects.until(place);
  expect(await ledgersOf(team)).toEqual([[]]);
  expect(await ledgersOf(team)).toEqual([[]]);
  await team.crash();
  release();
  await team.finished(id);
  expect(await ledgersOf(team)).toEqual([[], ledgers]);
});
