import { expect, test } from "vitest";
import { isTurnSignal } from "#core/steps/signals.ts";
import { GraphFlow, RoundRobinGroupChat, run } from "troupe";
import { lines, speaker, TestAgent } from "../../support/agents.ts";
import { outcome, RecordingHost } from "../../support/recording-host.ts";
import { graphOf, managerState } from "./graphs.ts";

/** After a: b, c and a team side by side, of which c speaks twice. Every speaker takes two steps. */
function make(effects: string[]): GraphFlow {
  const worker = (name: string): TestAgent =>
    speaker(name, async (_heard, ctx) => {
      const results: string[] = [];
      for (const key of ["one", "two"]) {
        results.push(
          await ctx.step(key, ({ idempotencyKey }) => {
            effects.push(idempotencyKey);
            return Promise.resolve(`${name} ${key}`);
          }),
        );
      }
      return results.join(", ");
    });
  const inner = new RoundRobinGroupChat([worker("x"), worker("y")], { name: "inner", maxTurns: 2 });
  const edges = {
    a: ["b", { target: "c", activationGroup: "g" }, "inner", { target: "c", activationGroup: "h" }],
    b: ["d"],
    c: ["d"],
    inner: ["d"],
    d: [],
  };
  const agents = [new TestAgent("a"), worker("b"), worker("c"), inner, new TestAgent("d")];
  return new GraphFlow(agents, graphOf(edges), { maxTurns: 1 });
}

const EFFECTS = [
  "run/1/speaker:b/one",
  "run/1/speaker:b/two",
  "run/1/speaker:c/again:1/one",
  "run/1/speaker:c/again:1/two",
  "run/1/speaker:c/one",
  "run/1/speaker:c/two",
  "run/1/speaker:inner/turn:1/speaker:x/one",
  "run/1/speaker:inner/turn:1/speaker:x/two",
  "run/1/speaker:inner/turn:2/speaker:y/one",
  "run/1/speaker:inner/turn:2/speaker:y/two",
];

const begun = make([]);
await run(begun, { task: "go" });
const state = begun.saveState();

test.each([...EFFECTS.keys(), EFFECTS.length])(
  "a turn of several agents that is interrupted after %i steps repeats none of them",
  async (afterSteps) => {
    const effects: string[] = [];
    const journal = new RecordingHost();
    const attempt = async (limit?: number) => {
      const team = make(effects);
      team.loadState(state);
      const scope = journal.attempt(limit === undefined ? {} : { afterSteps: limit });
      return { team, ...(await outcome(team.turn(scope))) };
    };
    const first = await attempt(afterSteps);
    if (afterSteps < EFFECTS.length) expect(isTurnSignal(first.error)).toBe(true);
    const { team, items, result } = await attempt();
    expect(result).toMatchObject({ done: true, stopReason: "Maximum number of turns 1 reached." });
    expect(effects.toSorted()).toEqual(EFFECTS);
    for (const item of first.items) {
      expect(items).toContainEqual(expect.objectContaining({ id: item.id, source: item.source }));
    }
    expect(lines(team.conversation())).toEqual([
      "user: go",
      "a: a1",
      "b: b one, b two",
      "c: c one, c two",
      "x: x one, x two",
      "y: y one, y two",
      "c: c one, c two",
    ]);
    expect(managerState(team)).toMatchObject({ ready: ["d"] });
  },
);
