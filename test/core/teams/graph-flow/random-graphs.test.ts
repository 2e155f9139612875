import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ChatMessage, DiGraphEdge } from "troupe";
import { GraphFlow, run, toText } from "troupe";
import { GraphFlowManager } from "#core/teams/graph-flow/graph-flow-manager.ts";
import { lines, ORIGIN, speaker, text } from "../../support/agents.ts";
import { type Edges, flow, graphOf, managerState, saying } from "./graphs.ts";
import { casesOf } from "../../../support/samples.ts";

/** An edge between two of a graph's nodes, by number; whether it is taken, where its node's edges have conditions. */
interface Arrow {
  from: number;
  to: number;
  isTaken: boolean;
}

interface Sketch {
  size: number;
  arrows: Arrow[];
  /** Whether the edges of each node have conditions. */
  conditional: boolean[];
}

/** Graphs without cycles: every edge leads to a node with a greater number. */
const acyclic: fc.Arbitrary<Sketch> = fc.integer({ min: 2, max: 9 }).chain((size) =>
  fc.record({
    size: fc.constant(size),
    conditional: fc.array(fc.boolean(), { minLength: size, maxLength: size }),
    arrows: fc.uniqueArray(
      fc
        .record({
          from: fc.nat(size - 2),
          step: fc.integer({ min: 1, max: size }),
          isTaken: fc.boolean(),
        })
        .map(({ from, step, isTaken }) => ({ from, to: Math.min(size - 1, from + step), isTaken })),
      { selector: ({ from, to }) => `${from}>${to}`, maxLength: size * 3 },
    ),
  }),
);

const name = (index: number): string => `n${index}`;

function draw({ size, arrows, conditional }: Sketch, activation: "all" | "any"): Edges {
  const edges = Array.from({ length: size }, (_, node): [string, DiGraphEdge[]] => [
    name(node),
    arrows
      .filter(({ from }) => from === node)
      .map(({ to, isTaken }) => ({
        target: name(to),
        ...(conditional[node] && { condition: isTaken ? name(node) : "nobody says this" }),
        activationCondition: activation,
      })),
  ]);
  return Object.fromEntries(edges);
}

/** The edges that are taken when their node speaks. */
function taken({ arrows, conditional }: Sketch): Arrow[] {
  return arrows.filter(({ from, isTaken }) => isTaken || !conditional[from]);
}

function starts({ size, arrows }: Sketch): number[] {
  const targets = new Set(arrows.map(({ to }) => to));
  return Array.from({ length: size }, (_, node) => node).filter((node) => !targets.has(node));
}

/** Whom the manager chose in each turn. */
async function waves(edges: Edges): Promise<string[][]> {
  const { messages } = await run(flow(edges, { emitTeamEvents: true }), { task: "go" });
  return messages.flatMap((message) =>
    message.type === "SelectSpeakerEvent" ? [message.content] : [],
  );
}

describe("a random graph without cycles", () => {
  test("runs every node whose edges are all taken once, after the nodes they come from", async () => {
    await fc.assert(
      fc.asyncProperty(acyclic, async (sketch) => {
        const ran = new Set(starts(sketch));
        for (let node = 0; node < sketch.size; node++) {
          const incoming = sketch.arrows.filter(({ to }) => to === node);
          const come = taken(sketch).filter(({ to, from }) => to === node && ran.has(from));
          if (incoming.length > 0 && come.length === incoming.length) ran.add(node);
        }
        const order = (await waves(draw(sketch, "all"))).flat();
        expect(order.toSorted()).toEqual([...ran].map(name).toSorted());
        for (const { from, to } of sketch.arrows) {
          if (!ran.has(to)) continue;
          expect(order.indexOf(name(from))).toBeLessThan(order.indexOf(name(to)));
        }
      }),
    );
  });

  test("runs a node once after each turn that takes one of its edges, if one is sufficient", async () => {
    await fc.assert(
      fc.asyncProperty(acyclic, async (sketch) => {
        const expected: string[][] = [];
        for (
          let wave = starts(sketch);
          wave.length > 0;
          wave = [
            ...new Set(
              taken(sketch)
                .filter(({ from }) => wave.includes(from))
                .map(({ to }) => to),
            ),
          ]
        ) {
          expected.push(wave.map(name).toSorted());
        }
        const chosen = await waves(draw(sketch, "any"));
        expect(chosen.map((wave) => wave.toSorted())).toEqual(expected);
      }),
    );
  });

  test("has a thread in one order, whichever node is faster", async () => {
    const delays = fc.array(fc.nat(6), { minLength: 9, maxLength: 9 });
    await fc.assert(
      fc.asyncProperty(acyclic, delays, async (sketch, ticks) => {
        const edges = draw(sketch, "any");
        const thread = async (slow: readonly number[]): Promise<string[]> => {
          const agents = Object.keys(edges).map((node, index) =>
            speaker(node, async (heard) => {
              for (let tick = slow[index] ?? 0; tick > 0; tick--) await Promise.resolve();
              return `${node} after ${heard.map(toText).join(" ")}`.slice(0, 60);
            }),
          );
          const team = new GraphFlow(agents, graphOf(edges));
          await run(team, { task: "go" });
          return lines(team.conversation());
        };
        expect(await thread(ticks)).toEqual(await thread([]));
      }),
      { numRuns: casesOf(50) },
    );
  });
});

describe("a random graph with loops", () => {
  const edge = (size: number): fc.Arbitrary<DiGraphEdge & { from: number }> =>
    fc.record({
      from: fc.nat(size - 1),
      target: fc.nat(size - 1).map(name),
      activationGroup: fc.constantFrom("g", "h"),
    });
  const graphs = fc.integer({ min: 2, max: 6 }).chain((size) =>
    fc.record({
      size: fc.constant(size),
      list: fc.array(edge(size), { minLength: 1, maxLength: size * 3 }),
    }),
  );

  /** Whether an edge is taken depends on the message and the edge, so that loops end and begin. */
  const condition = (target: string, group: string) => (message: ChatMessage) => {
    const bytes = new TextEncoder().encode(`${toText(message)}${target}${group}`);
    return bytes.reduce((sum, byte) => sum + byte, 0) % 5 < 3;
  };

  test("continues from a state that was saved after any turn like the original", async () => {
    await fc.assert(
      fc.asyncProperty(graphs, async ({ size, list }) => {
        const nodes = Array.from({ length: size }, (_, node): [string, DiGraphEdge[]] => [
          name(node),
          list
            .filter(({ from }) => from === node)
            .map(({ target, activationGroup = "g" }) => ({
              target,
              activationGroup,
              activationCondition: activationGroup === "h" ? "any" : "all",
              condition: condition(target, `${activationGroup}`),
            })),
        ]);
        const edges: Edges = { ...Object.fromEntries(nodes), leaf: [] };
        fc.pre(graphOf(edges, name(0)).deadlocks().length === 0);
        const make = (): GraphFlow => flow(edges, { start: name(0), maxTurns: 1 });
        const original = make();
        let saved = make().saveState();
        for (let turn = 0; turn < 8; turn++) {
          const loaded = make();
          loaded.loadState(saved);
          const [expected, actual] = [await run(original), await run(loaded)];
          expect(lines(actual.messages)).toEqual(lines(expected.messages));
          expect(actual.stop_reason).toBe(expected.stop_reason);
          expect(managerState(loaded)).toEqual(managerState(original));
          saved = JSON.parse(JSON.stringify(loaded.saveState()));
        }
      }),
      { numRuns: casesOf(60) },
    );
  });
});

test("any graph that is accepted as new ends at a leaf, at its limit, or with a reason", async () => {
  const words = fc.constantFrom("yes", "no", "maybe");
  const flag = fc.constantFrom<"all" | "any">("all", "any");
  const sketches = fc.integer({ min: 2, max: 6 }).chain((size) =>
    fc.record({
      size: fc.constant(size),
      conditional: fc.array(fc.boolean(), { minLength: size, maxLength: size }),
      activations: fc.array(flag, { minLength: size, maxLength: size }),
      replies: fc.array(fc.array(words, { maxLength: 12 }), { minLength: size, maxLength: size }),
      arrows: fc.array(
        fc.record({
          from: fc.nat(size - 1),
          to: fc.nat(size - 1),
          condition: words,
          apart: fc.boolean(),
        }),
        { minLength: 1, maxLength: size * 2 },
      ),
    }),
  );
  const seen = { complete: 0, stuck: 0 };
  await fc.assert(
    fc.asyncProperty(sketches, async ({ size, conditional, activations, replies, arrows }) => {
      const edges: Edges = Object.fromEntries(
        Array.from({ length: size }, (_, node) => [
          name(node),
          arrows
            .filter(({ from }) => from === node)
            .map(({ to, condition, apart }, index) => ({
              target: name(to),
              ...(conditional[node] && { condition }),
              ...(apart && { activationGroup: `${node}.${index}` }),
              activationCondition: activations[to],
            })),
        ]),
      );
      const graph = graphOf(edges, name(0));
      fc.pre(graph.issues().length === 0 && graph.deadlocks().length === 0);
      const team = new GraphFlow(
        Object.keys(edges).map((node, index) => saying(node, ...(replies[index] ?? []))),
        graph,
        { maxTurns: 12 },
      );
      const { messages, stop_reason } = await run(team, { task: "go" });
      const spoke = new Set(messages.map(({ source }) => source));
      if (stop_reason === "Maximum number of turns 12 reached.") return;
      if (stop_reason === "Digraph execution is complete") {
        seen.complete++;
        expect(graph.leafNodes().some((leaf) => spoke.has(leaf))).toBe(true);
        return;
      }
      seen.stuck++;
      const silent = Object.keys(edges).filter((node) => !spoke.has(node));
      const never = silent.map((node) => `"${node}"`).join(", ");
      expect(stop_reason).toMatch(
        /^Digraph execution cannot continue: .*(matches no condition of its edges|waits for all \d+ edges)/,
      );
      if (silent.length > 0) expect(stop_reason).toContain(`; never spoke: ${never}`);
    }),
    { numRuns: casesOf(300) },
  );
  expect(Math.min(seen.complete, seen.stuck)).toBeGreaterThan(0);
});

describe("a big graph", () => {
  const chain = (length: number): Edges =>
    Object.fromEntries(
      Array.from({ length }, (_, node) => [name(node), node + 1 < length ? [name(node + 1)] : []]),
    );

  test("that has fifty nodes runs: a fan, a join and a tail", async () => {
    const fan = Array.from({ length: 40 }, (_, index) => `f${index}`);
    const edges: Edges = {
      start: fan,
      ...Object.fromEntries(fan.map((node) => [node, ["n0"]])),
      ...chain(9),
    };
    const team = flow(edges);
    await run(team, { task: "go" });
    expect(team.conversation().map(({ source }) => source)).toEqual([
      "user",
      "start",
      ...fan,
      ...Array.from({ length: 9 }, (_, node) => name(node)),
    ]);
  });

  /** The manager after the first node of a chain has spoken; from then on its graph cannot be listed. */
  const begun = async (length: number): Promise<GraphFlowManager> => {
    const graph = graphOf(chain(length));
    const manager = new GraphFlowManager(graph);
    await manager.decide().next();
    Object.assign(graph, { nodes: new Unlisted(graph.nodes), groups: new Unlisted(graph.groups) });
    manager.observe([{ name: name(0), messages: [text(name(0), "done", ORIGIN)] }]);
    return manager;
  };

  test("evaluates only the nodes that spoke and their edges", async () => {
    const manager = await begun(10);
    expect((await manager.decide().next()).value).toEqual({ kind: "speak", speakers: [name(1)] });
    expect(() => manager.saveState()).toThrow("listed");
  });

  test("stores between turns only the nodes in progress", async () => {
    const stored = async (length: number): Promise<unknown> => (await begun(length)).head();
    expect(await stored(2000)).toEqual(await stored(10));
  });
});

class Unlisted<K, V> extends Map<K, V> {
  override [Symbol.iterator](): MapIterator<[K, V]> {
    throw new Error("the whole graph was listed");
  }

  override keys(): MapIterator<K> {
    throw new Error("the whole graph was listed");
  }

  override values(): MapIterator<V> {
    throw new Error("the whole graph was listed");
  }
}
