import { describe, expect, test } from "vitest";
import { GraphFlow, StateError, reset, run } from "troupe";
import type { JsonObject } from "troupe";
import { lines, TestAgent } from "../../support/agents.ts";
import { type Edges, flow, graphOf, managerState, saying } from "./graphs.ts";

const DIAMOND: Edges = {
  a: ["b", "c"],
  b: ["b2"],
  b2: ["d"],
  c: ["d"],
  d: [{ target: "e", activationCondition: "any" }],
  e: [],
};

/** What AutoGen would have saved. */
function withoutExtras(state: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(state, (key, value) => (key === "troupe" ? undefined : value)));
}

describe("a graph's state", () => {
  test("has AutoGen's shape", async () => {
    const team = flow(DIAMOND, { maxTurns: 2 });
    expect(managerState(team)).toEqual({
      current_turn: 0,
      remaining: { b: { b: 1 }, c: { c: 1 }, b2: { b2: 1 }, d: { d: 2 }, e: { e: 1 } },
      enqueued_any: {
        b: { b: false },
        c: { c: false },
        b2: { b2: false },
        d: { d: false },
        e: { e: false },
      },
      ready: ["a"],
      troupe: { under_way: false },
    });
    await run(team, { task: "go" });
    expect(managerState(team)).toMatchObject({
      remaining: { b: { b: 1 }, c: { c: 1 }, b2: { b2: 0 }, d: { d: 1 }, e: { e: 1 } },
      ready: ["b2"],
      troupe: { under_way: true },
    });
    await run(team);
    expect(managerState(team)).toMatchObject({
      remaining: { e: { e: 1 } },
      enqueued_any: { e: { e: true } },
      ready: ["e"],
    });
    await reset(team);
    expect(managerState(team)).toMatchObject({ ready: ["a"], troupe: { under_way: false } });
  });

  test.each([0, 1, 2, 3, 4, 5])(
    "that was saved after %i turns continues like the original",
    async (turns) => {
      const team = flow(DIAMOND, { maxTurns: 1 });
      for (let turn = 0; turn < turns; turn++) await run(team, { task: "go" });
      const copy = flow(DIAMOND, { maxTurns: 1 });
      copy.loadState(team.saveState());
      for (let turn = 0; turn < 6; turn++) {
        const [original, loaded] = [await run(team), await run(copy)];
        expect(lines(loaded.messages)).toEqual(lines(original.messages));
        expect(loaded.stop_reason).toBe(original.stop_reason);
        expect(managerState(copy)).toEqual(managerState(team));
      }
    },
  );

  const LOOP: Edges = {
    w: ["r"],
    r: [
      { target: "w", condition: "AGAIN", activationGroup: "back" },
      { target: "end", condition: "FINE" },
    ],
    end: [],
  };
  const loop = (...replies: string[]) =>
    new GraphFlow(
      [new TestAgent("w"), saying("r", ...replies), new TestAgent("end")],
      graphOf(LOOP, "w"),
      { maxTurns: 2 },
    );

  test("shows the next nodes and the number of turns of each, up to the next task", async () => {
    const team = loop("AGAIN", "FINE", "FINE");
    const states = [team.visibleState()];
    for (let count = 0; count < 4; count++) {
      await run(team, { task: "go" });
      const copy = loop();
      copy.loadState(team.saveState());
      expect(copy.visibleState()).toEqual(team.visibleState());
      states.push(team.visibleState());
    }
    expect(states.map((state) => state?.["graph"])).toEqual([
      { ready: ["w"], turns: {} },
      { ready: ["w"], turns: { w: 1, r: 1 } },
      { ready: ["end"], turns: { w: 2, r: 2 } },
      { ready: [], turns: { w: 2, r: 2, end: 1 } },
      { ready: ["end"], turns: { w: 1, r: 1 } },
    ]);
    await reset(team);
    expect(team.visibleState()).toEqual(states[0]);
  });

  test("that AutoGen saved in the middle of a loop runs the loop again", async () => {
    const before = loop("AGAIN");
    await run(before, { task: "go" });
    const after = loop("AGAIN", "AGAIN", "FINE");
    after.loadState(withoutExtras(before.saveState()));
    const sources: string[] = [];
    for (let count = 0; count < 3; count++) {
      sources.push(...(await run(after)).messages.map(({ source }) => source));
    }
    expect(sources).toEqual(["w", "r", "w", "r", "w", "r"]);
  });

  test("that AutoGen has counted too far is counted again when it loads", () => {
    const team = loop();
    const state = team.saveState() as { agent_states: { GraphManager: JsonObject } };
    Object.assign(state.agent_states.GraphManager, {
      remaining: { r: { r: -1 }, w: { back: 0 }, end: { end: 1 } },
      ready: ["end"],
    });
    team.loadState(withoutExtras(state));
    expect(managerState(team)).toMatchObject({
      remaining: { r: { r: 1 }, w: { back: 1 } },
      ready: ["end"],
    });
  });

  test("that was saved in the middle of a turn starts over", async () => {
    const team = flow({ a: ["b"], b: [] });
    const state = team.saveState() as { agent_states: { GraphManager: JsonObject } };
    Object.assign(state.agent_states.GraphManager, { ready: [], remaining: { b: { b: 0 } } });
    team.loadState(withoutExtras(state));
    expect(lines((await run(team, { task: "go" })).messages)).toEqual([
      "user: go",
      "a: a1",
      "b: b1",
    ]);
  });

  test("that is at rest fits another graph, and one in progress only its own", async () => {
    const [before, after] = [
      (options = {}) => flow({ a: ["b"], b: ["c"], c: [] }, options),
      () =>
        new GraphFlow(
          ["a", "b", "c"].map((name) => new TestAgent(name)),
          graphOf({ a: ["c"], c: [] }),
        ),
    ];
    const done = before();
    await run(done, { task: "go" });
    const replaced = after();
    replaced.loadState(done.saveState());
    expect(managerState(replaced)).toMatchObject({ ready: ["a"], remaining: { c: { c: 1 } } });

    const stopped = before({ maxTurns: 1 });
    await run(stopped, { task: "go" });
    const other = after();
    const own = other.saveState();
    expect(() => other.loadState(stopped.saveState())).toThrow(StateError);
    expect(other.saveState()).toEqual(own);
  });

  test.each<[JsonObject, string[]]>([
    [{ ready: ["ghost"] }, ["ready[0]"]],
    [{ remaining: { ghost: { ghost: 1 } } }, ["remaining.ghost.ghost"]],
    [{ remaining: { b: { other: 1 } } }, ["remaining.b.other"]],
    [{ remaining: { b: { b: 2 } } }, ["remaining.b.b"]],
    [{ enqueued_any: { a: { a: true } } }, ["enqueued_any.a.a"]],
    [{ remaining: { b: 1 } }, ["remaining.b"]],
    [{ ready: "a" }, ["ready"]],
    [{ ready: null, remaining: null }, ["remaining", "ready"]],
  ])("that does not fit is refused: %j", (change, paths) => {
    const team = flow({ a: ["b"], b: [] });
    const before = team.saveState();
    const state = withoutExtras(before) as { agent_states: { GraphManager: JsonObject } };
    Object.assign(state.agent_states.GraphManager, change);
    const load = () => team.loadState(state);
    expect(load).toThrow(StateError);
    expect(load).toThrow(
      expect.objectContaining({
        issues: paths.map((path) =>
          expect.objectContaining({ path: `agent_states.GraphManager.${path}` }),
        ),
      }),
    );
    expect(team.saveState()).toEqual(before);
  });
});
