import { describe, expect, test } from "vitest";
import type { ComponentModel, Json } from "troupe";
import type { RunInfo } from "#contract/run.ts";
import { Effects } from "../support/effects.ts";
import { KINDS } from "../support/kinds.ts";
import { saidIn, stateOf } from "../support/outcome.ts";
import { TestTeam, value } from "../support/team.ts";

/** After how many turns a run ends in the middle of what the kind does. An agent without a team has one. */
const TURNS: { [kind: string]: number } = {
  RoundRobinGroupChat: 3,
  SelectorGroupChat: 2,
  Swarm: 3,
  MagenticOneGroupChat: 1,
  GraphFlow: 3,
  "a node that is ready twice": 1,
  "teams three deep": 1,
  SocietyOfMindAgent: 1,
  AgentTool: 1,
  MessageFilterAgent: 2,
  "a wave of teams": 1,
};

describe.each(KINDS)("$name", ({ name, component }) => {
  test("continues from a saved state as the one it was saved from", async () => {
    const turns = TURNS[name];
    const limited = ({ provider, config }: ComponentModel): ComponentModel => ({
      provider,
      config: turns === undefined ? config : { ...config, max_turns: turns },
    });
    // A team that is led by a plan needs a task, and an agent alone has nothing to continue with.
    const needsTask = name === "MagenticOneGroupChat" || turns === undefined;
    const goOn = async (team: TestTeam): Promise<RunInfo> =>
      team.finished((await team.start(needsTask ? "and now?" : null)).id);

    const original = await TestTeam.create(limited(component(new Effects())));
    const first = await original.finished((await original.start("go")).id);
    expect(first).toMatchObject({ status: "completed" });
    if (turns !== undefined) expect(first.stop_reason).toMatch(/^Max/);
    const saved = value(await original.gateway.saveState());

    const fresh = await TestTeam.create(limited(component(new Effects())));
    value(await fresh.gateway.loadState(saved));
    expect(uncounted(await stateOf(fresh))).toEqual(uncounted(await stateOf(original)));
    for (let run = 0; run < 2; run++) {
      const expected = await goOn(original);
      const again = await goOn(fresh);
      expect(expected.result?.messages).not.toEqual([]);
      expect(again.stop_reason).toBe(expected.stop_reason);
      expect(uncounted(saidIn(again.result?.messages ?? []))).toEqual(
        uncounted(saidIn(expected.result?.messages ?? [])),
      );
      expect(uncounted(await stateOf(fresh))).toEqual(uncounted(await stateOf(original)));
    }
  });
});

/** The models begin counting again: that is not a part of a saved state. */
function uncounted(told: Json): Json {
  return JSON.parse(JSON.stringify(told).replaceAll(/things by \d+/g, "things")) as Json;
}
