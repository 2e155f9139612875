import { describe, expect, test } from "vitest";
import { DiGraph, MaxMessageTermination, ValueError, run } from "troupe";
import { type Edges, flow, graphOf } from "./graphs.ts";

const when = (target: string, condition: string) => ({ target, condition });

describe("a graph", () => {
  test("knows its starts, its leaves and the parents of each node", () => {
    const graph = graphOf({ a: ["c"], b: ["c", "d"], c: ["d", "d"], d: [] });
    expect(graph.startNodes()).toEqual(["a", "b"]);
    expect(graph.leafNodes()).toEqual(["d"]);
    expect([...graph.parents()]).toEqual([
      ["a", []],
      ["b", []],
      ["c", ["a", "b"]],
      ["d", ["b", "c", "c"]],
    ]);
    expect(graphOf({ a: [], b: [] }, "b").startNodes()).toEqual(["b"]);
  });

  test.each<[string, Edges, string[] | undefined]>([
    ["a diamond", { a: ["b", "c"], b: ["d"], c: ["d"], d: [] }, undefined],
    ["a loop", { a: ["b"], b: [when("a", "x"), when("c", "y")], c: [] }, ["a", "b"]],
    ["a node that repeats itself", { a: [when("a", "x"), when("b", "y")], b: [] }, ["a"]],
    ["a loop behind another node", { s: ["a"], a: ["b"], b: [when("a", "x")] }, ["a", "b"]],
    ["two parts", { a: [], b: ["c"], c: [when("b", "x")] }, ["b", "c"]],
  ])("finds the cycle of %s", (_, edges, cycle) => {
    expect(graphOf(edges).cycles().first).toEqual(cycle);
  });

  test("that is deep does not exhaust the stack", () => {
    const names = Array.from({ length: 20_000 }, (_, index) => `n${index}`);
    const edges = Object.fromEntries(
      names.map((name, index) => [name, names.slice(index + 1, index + 2)]),
    );
    const chain = graphOf(edges);
    chain.validate();
    expect(chain.cycles().first).toBeUndefined();
  });
});

describe("a rule that is broken names the node", () => {
  test.each<[string, Edges, string | undefined, { path: string; message: string }[]]>([
    [
      "no node",
      {},
      undefined,
      [{ path: "graph.nodes", message: "a graph needs at least one node" }],
    ],
    [
      "no start",
      { a: ["b"], b: [when("a", "x"), when("c", "y")], c: [when("b", "z")], d: [] },
      undefined,
      [],
    ],
    [
      "no start and no end",
      { a: ["b"], b: [when("a", "x")] },
      undefined,
      [
        {
          path: "graph.default_start_node",
          message:
            'no node is a start: edges lead to all of "a", "b"; name one as default_start_node',
        },
        { path: "graph.nodes", message: 'no node is an end: edges leave all of "a", "b"' },
      ],
    ],
    [
      "mixed edges",
      { a: [when("b", "x"), "c"], b: [], c: [] },
      undefined,
      [
        {
          path: "graph.nodes.a.edges",
          message: expect.stringMatching(
            /^node "a" has edges with a condition and edges without; .*condition_function$/,
          ),
        },
      ],
    ],
    [
      "an edge to nowhere",
      { a: ["z"], b: [] },
      undefined,
      [
        {
          path: "graph.nodes.a.edges[0].target",
          message: 'node "a" has an edge to "z", which is not a node',
        },
      ],
    ],
    [
      "conditions that disagree",
      { a: ["b", "c"], b: ["d"], c: [{ target: "d", activationCondition: "any" }], d: [] },
      undefined,
      [
        {
          path: "graph.nodes.c.edges[0].activation_condition",
          message: 'the edges to "d" in group "d" disagree: "all" from "b", "any" from "c"',
        },
      ],
    ],
    [
      "a cycle without an exit",
      { a: ["b"], b: ["a", "c"], c: [] },
      "a",
      [
        {
          path: "graph.nodes.a",
          message: expect.stringMatching(
            /^the cycle a -> b -> a has no edge with a condition.*condition_function$/,
          ),
        },
      ],
    ],
  ])("%s", (_, edges, start, issues) => {
    const validate = () => graphOf(edges, start).validate();
    if (issues.length === 0) expect(validate).not.toThrow();
    else expect(validate).toThrow(expect.objectContaining({ name: "ValueError", issues }));
  });

  test("when the team is constructed", () => {
    expect(() => flow({ a: ["b"], b: ["a"] }, { start: "a" })).toThrow(ValueError);
  });

  const alone = (target: string, condition: string) => ({
    ...when(target, condition),
    activationGroup: "again",
  });
  const any = (target: string, condition?: string) => ({
    target,
    condition,
    activationCondition: "any" as const,
  });

  test.each<[string, Edges, string | undefined, [path: string, waits: string, other: string][]]>([
    [
      "a node before a loop",
      { s: ["a"], a: ["b"], b: [when("a", "x"), when("c", "y")], c: [] },
      undefined,
      [["graph.nodes.b.edges[0]", "a", "s"]],
    ],
    [
      "a node that repeats itself",
      { s: ["a"], a: [when("b", "y"), when("a", "x")], b: [] },
      undefined,
      [["graph.nodes.a.edges[1]", "a", "s"]],
    ],
    [
      "two nodes before a long loop",
      { s: ["a"], t: ["a"], a: ["b"], b: ["c"], c: [when("a", "x"), when("d", "y")], d: [] },
      undefined,
      [["graph.nodes.c.edges[0]", "a", "s"]],
    ],
    [
      "a loop that begins in itself and has an edge from outside",
      { s: ["b"], a: ["b"], b: [when("a", "x"), when("c", "y")], c: [] },
      "a",
      [["graph.nodes.a.edges[0]", "b", "s"]],
    ],
    [
      "a node that waits for two of its loop, one of which speaks only after it",
      {
        s: [any("a")],
        a: ["b", "c"],
        b: ["d"],
        c: ["e"],
        d: [],
        e: [when("c", "x"), when("f", "y"), { ...any("a", "z") }],
        f: [],
      },
      undefined,
      [["graph.nodes.e.edges[0]", "c", "a"]],
    ],
    [
      "a group of its own for the loop",
      { s: ["a"], a: ["b"], b: [alone("a", "x"), when("c", "y")], c: [] },
      undefined,
      [],
    ],
    [
      "any edge is enough",
      { s: [any("a")], a: ["b"], b: [any("a", "x"), when("c", "y")], c: [] },
      undefined,
      [],
    ],
    [
      "a loop whose two branches join in it",
      { a: ["b", "c"], b: ["d"], c: ["d"], d: [when("a", "x"), when("e", "y")], e: [] },
      "a",
      [],
    ],
    [
      "a join of a loop's exit and another node",
      { s: ["t", "a"], t: ["c"], a: ["b"], b: [alone("a", "x"), when("c", "y")], c: [] },
      undefined,
      [],
    ],
    [
      "a loop that nothing reaches",
      { s: [], t: ["a"], a: ["b"], b: [when("a", "x"), when("c", "y")], c: [] },
      "s",
      [],
    ],
  ])("a loop that never ends is refused: %s", (_, edges, start, expected) => {
    const graph = graphOf(edges, start);
    expect(graph.issues()).toEqual([]);
    const deadlocks = expected.map(([path, waits, other]) => ({
      path,
      message: expect.stringMatching(
        new RegExp(
          `^node "${waits}" waits for .*"${other}".* "activation_group" .* "activation_condition": "any"$`,
        ),
      ),
    }));
    expect(graph.deadlocks()).toEqual(deadlocks);
    const options = { maxTurns: 9, ...(start !== undefined && { start }) };
    if (deadlocks.length === 0) expect(() => flow(edges, options)).not.toThrow();
    else expect(() => flow(edges, options)).toThrow(/^the graph cannot run: /);
  });

  test("a team with a cycle needs a condition or a limit", async () => {
    const loop = { a: ["b"], b: [when("a", "again"), when("c", "done")], c: [] };
    expect(() => flow(loop, { start: "a" })).toThrow(
      expect.objectContaining({
        code: "invalid_value",
        issues: [
          { path: "termination_condition", message: expect.stringContaining("a -> b -> a") },
        ],
      }),
    );
    await run(flow(loop, { start: "a", maxTurns: 5 }), { task: "go" });
    const terminationCondition = new MaxMessageTermination(5);
    await run(flow(loop, { start: "a", terminationCondition }), { task: "go" });
  });
});

test("an empty text is a condition that every message meets", async () => {
  const team = flow({ a: [when("b", "")], b: [] });
  expect((await run(team, { task: "go" })).messages.map(({ source }) => source)).toEqual([
    "user",
    "a",
    "b",
  ]);
  expect(() => new DiGraph({ nodes: {} }).validate()).toThrow(ValueError);
});
