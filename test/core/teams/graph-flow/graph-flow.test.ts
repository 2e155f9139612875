import { describe, expect, test } from "vitest";
import {
  ExternalTermination,
  GraphFlow,
  MaxMessageTermination,
  RoundRobinGroupChat,
  TextMentionTermination,
  reset,
  run,
  runStream,
  toText,
} from "troupe";
import type { ChatMessage } from "troupe";
import { firedCondition, lines, speaker, TestAgent } from "../../support/agents.ts";
import { flow, graphOf, saying } from "./graphs.ts";

const COMPLETE = "Digraph execution is complete";

describe("a graph", () => {
  test("runs in the order of its edges, and from its start again with the next task", async () => {
    const line = flow({ a: ["b"], b: ["c"], c: [] });
    const first = await run(line, { task: "go" });
    expect(lines(first.messages)).toEqual(["user: go", "a: a1", "b: b1", "c: c1"]);
    expect(first.stop_reason).toBe(COMPLETE);
    const second = await run(line);
    expect(lines(second.messages)).toEqual(["a: a2", "b: b2", "c: c2"]);
  });

  test("runs ready nodes side by side, and the thread has the order of the edges", async () => {
    const order: string[] = [];
    let release = (): void => {};
    const cIsDone = new Promise<void>((resolve) => {
      release = resolve;
    });
    const b = speaker("b", async () => {
      order.push("b begins");
      await cIsDone;
      order.push("b ends");
      return "b was here";
    });
    const c = speaker("c", () => {
      order.push("c");
      release();
      return "c was here";
    });
    const d = new TestAgent("d");
    const team = new GraphFlow(
      [new TestAgent("a"), b, c, d],
      graphOf({ a: ["b", "c"], b: ["d"], c: ["d"], d: [] }),
      {
        emitTeamEvents: true,
      },
    );
    const { messages } = await run(team, { task: "go" });
    expect(order).toEqual(["b begins", "c", "b ends"]);
    expect(d.heard).toEqual([["go", "a1", "b was here", "c was here"]]);
    expect(lines([...team.conversation()])).toEqual([
      "user: go",
      "a: a1",
      "b: b was here",
      "c: c was here",
      "d: d1",
    ]);
    expect(messages.filter(({ type }) => type === "SelectSpeakerEvent").map(toText)).toEqual([
      "['a']",
      "['b', 'c']",
      "['d']",
    ]);
  });

  test("that is inside another team is heard in the order of its edges, whichever node was faster", async () => {
    let release = (): void => {};
    const cIsDone = new Promise<void>((resolve) => {
      release = resolve;
    });
    const b = speaker("b", async () => {
      await cIsDone;
      return "b after c";
    });
    const c = speaker("c", () => {
      release();
      return "c was here";
    });
    const inner = new GraphFlow([b, c], graphOf({ b: [], c: [] }), { name: "inner" });
    const listener = new TestAgent("listener");
    const outer = new RoundRobinGroupChat([inner, listener], { maxTurns: 2 });
    const { messages } = await run(outer, { task: "go" });
    expect(lines(messages).slice(1, 3)).toEqual(["c: c was here", "b: b after c"]);
    expect(listener.heard).toEqual([["go", "b after c", "c was here"]]);
  });

  test("starts at every node without incoming edges, or at the configured one", async () => {
    const edges = { x: ["z"], y: ["z"], z: [] };
    expect(lines((await run(flow(edges), { task: "go" })).messages)).toEqual([
      "user: go",
      "x: x1",
      "y: y1",
      "z: z1",
    ]);
    const inside = await run(flow(edges, { start: "z" }), { task: "go" });
    expect(lines(inside.messages)).toEqual(["user: go", "z: z1"]);
  });

  test("needs all edges of a group, or any of them", async () => {
    const any = { target: "d", activationCondition: "any" } as const;
    const all = flow({ a: ["b", "x"], b: ["c"], c: ["d"], x: ["d"], d: [] });
    expect(lines((await run(all, { task: "go" })).messages)).toEqual([
      "user: go",
      "a: a1",
      "b: b1",
      "x: x1",
      "c: c1",
      "d: d1",
    ]);
    const first = flow({ a: ["b", "x"], b: ["c"], c: [any], x: [any], d: [] });
    expect(lines((await run(first, { task: "go" })).messages)).toEqual([
      "user: go",
      "a: a1",
      "b: b1",
      "x: x1",
      "c: c1",
      "d: d1",
      "d: d2",
    ]);
  });

  test("lets a node with two complete groups speak twice in one turn, to nothing new", async () => {
    const [a, b, c] = [new TestAgent("a"), new TestAgent("b"), new TestAgent("c")];
    const edges = {
      a: [
        { target: "b", activationGroup: "x" },
        { target: "c" },
        { target: "b", activationGroup: "y" },
      ],
      b: [],
      c: [],
    };
    const team = new GraphFlow([a, b, c], graphOf(edges), { maxTurns: 2 });
    const { stop_reason } = await run(team, { task: "go" });
    expect(stop_reason).toBe(COMPLETE);
    expect(lines([...team.conversation()])).toEqual([
      "user: go",
      "a: a1",
      "b: b1",
      "c: c1",
      "b: b2",
    ]);
    expect(b.heard).toEqual([["go", "a1"], []]);
  });

  test("takes an edge when the last message contains its text or its function says so", async () => {
    const judge = saying("judge", "I say YES", "42", "neither");
    const edges = {
      judge: [
        { target: "yes", condition: "YES" },
        { target: "number", condition: (message: ChatMessage) => /\d/.test(toText(message)) },
      ],
      yes: [],
      number: [],
    };
    const agents = [judge, new TestAgent("yes"), new TestAgent("number")];
    const team = new GraphFlow(agents, graphOf(edges));
    const said = async () => lines((await run(team, { task: "go" })).messages).slice(1);
    expect(await said()).toEqual(["judge: I say YES", "yes: yes1"]);
    expect(await said()).toEqual(["judge: 42", "number: number1"]);
    expect(await said()).toEqual(["judge: neither"]);
  });

  test("repeats a loop until its exit", async () => {
    const edges = {
      w: ["r"],
      r: [
        { target: "w", condition: "AGAIN" },
        { target: "end", condition: "FINE" },
      ],
      end: [],
    };
    const agents = () => [
      new TestAgent("w"),
      saying("r", "AGAIN", "AGAIN", "FINE"),
      new TestAgent("end"),
    ];
    const loop = new GraphFlow(agents(), graphOf(edges, "w"), { maxTurns: 20 });
    const { messages, stop_reason } = await run(loop, { task: "go" });
    expect(messages.map(({ source }) => source).join(" ")).toBe("user w r w r w r end");
    expect(stop_reason).toBe(COMPLETE);
    const limited = new GraphFlow(agents(), graphOf(edges, "w"), { maxTurns: 3 });
    expect((await run(limited, { task: "go" })).stop_reason).toBe(
      "Maximum number of turns 3 reached.",
    );
  });

  test("starts a node in a loop by the group that is complete, and counts only that one again", async () => {
    const back = { activationGroup: "back", activationCondition: "any" } as const;
    const edges = {
      a: ["b"],
      b: [
        { target: "c1", condition: "more" },
        { target: "c2", condition: "more" },
        { target: "e", condition: "exit" },
      ],
      c1: [{ target: "b", ...back }],
      c2: [{ target: "b", ...back }],
      e: [],
    };
    const agents = [
      new TestAgent("a"),
      saying("b", "more", "more", "exit"),
      new TestAgent("c1"),
      new TestAgent("c2"),
      new TestAgent("e"),
    ];
    const team = new GraphFlow(agents, graphOf(edges, "a"), { maxTurns: 20 });
    await run(team, { task: "go" });
    expect(
      team
        .conversation()
        .map(({ source }) => source)
        .join(" "),
    ).toBe("user a b c1 c2 b c1 c2 b e");
  });
});

describe("the end of a run", () => {
  test("comes before a condition that the same message meets", async () => {
    const agents = [new TestAgent("a"), saying("b", "END")];
    const team = new GraphFlow(agents, graphOf({ a: ["b"], b: [] }), {
      terminationCondition: new TextMentionTermination("END"),
    });
    expect((await run(team, { task: "go" })).stop_reason).toBe(COMPLETE);
  });

  test("leaves the graph at its place for the next run, if a condition or a limit caused it", async () => {
    const team = flow({ a: ["b"], b: ["c"], c: [] }, { maxTurns: 1 });
    const said = async (task: string | null) => {
      const { messages, stop_reason } = await run(team, { task });
      return [...lines(messages), stop_reason];
    };
    const limit = "Maximum number of turns 1 reached.";
    expect(await said("go")).toEqual(["user: go", "a: a1", limit]);
    expect(await said(null)).toEqual(["b: b1", limit]);
    expect(await said("more")).toEqual(["user: more", "c: c1", COMPLETE]);
    expect(await said("again")).toEqual(["user: again", "a: a2", limit]);
    await reset(team);
    expect(await said("anew")).toEqual(["user: anew", "a: a1", limit]);
  });

  test("leaves the graph at its place after an external termination, too", async () => {
    const external = new ExternalTermination();
    const team = flow({ a: ["b"], b: [] }, { terminationCondition: external });
    for await (const item of runStream(team, { task: "go" })) {
      if (item.type !== "TaskResult" && item.source === "a") external.set();
    }
    expect(lines((await run(team)).messages)).toEqual(["b: b1"]);
  });

  test("counts all messages of a wave, whichever node ends last", async () => {
    const edges = { a: ["b", "c"], b: ["d"], c: ["d"], d: [] };
    const team = flow(edges, { terminationCondition: new MaxMessageTermination(4) });
    const { stop_reason } = await run(team, { task: "go" });
    expect(stop_reason).toBe("Maximum number of messages 4 reached, current message count: 4");
  });

  test("leaves the graph at the last finished turn after a failure", async () => {
    const broken = new Set(["a", "b"]);
    const agents = ["a", "b", "c"].map((name) =>
      speaker(name, () => {
        if (broken.delete(name)) throw new Error(`${name} is broken`);
        return "works";
      }),
    );
    const team = new GraphFlow(agents, graphOf({ a: ["b"], b: ["c"], c: [] }));
    await expect(run(team, { task: "go" })).rejects.toThrow("a is broken");
    await expect(run(team, { task: "go on" })).rejects.toThrow("b is broken");
    const { messages } = await run(team, { task: "more" });
    expect(lines(messages)).toEqual(["user: more", "b: works", "c: works"]);
  });
});

describe("the speaker in a graph", () => {
  test("is the participant: teams fire edges under their own name, to any depth", async () => {
    const innermost = new RoundRobinGroupChat([new TestAgent("x"), saying("y", "PASS")], {
      name: "innermost",
      maxTurns: 2,
    });
    const inner = new GraphFlow(
      [innermost, new TestAgent("z")],
      graphOf({ innermost: [{ target: "z", condition: "PASS" }], z: [] }),
      { name: "inner" },
    );
    const last = new TestAgent("last");
    const outer = new GraphFlow([inner, last], graphOf({ inner: ["last"], last: [] }));
    const { messages } = await run(outer, { task: "go" });
    expect(lines(messages)).toEqual(["user: go", "x: x1", "y: PASS", "z: z1", "last: last1"]);
    expect(last.heard).toEqual([["go", "x1", "PASS", "z1"]]);
  });

  test("is finished if it is a team without messages, which meets no condition", async () => {
    const silent = new RoundRobinGroupChat([new TestAgent("x")], {
      name: "silent",
      terminationCondition: firedCondition(),
    });
    const next = async (condition?: string) => {
      const edges = { silent: [{ target: "next", condition }], next: [] };
      const team = new GraphFlow([silent, new TestAgent("next")], graphOf(edges));
      return lines((await run(team, { task: "go" })).messages);
    };
    expect(await next()).toEqual(["user: go", "next: next1"]);
    expect(await next("")).toEqual(["user: go"]);
  });

  test("is never the task, which fires no edges, whatever its source", async () => {
    const team = flow({ a: ["b"], b: [] });
    const { messages } = await run(team, {
      task: { type: "TextMessage", source: "a", content: "hello" },
    });
    expect(lines(messages)).toEqual(["a: hello", "a: a1", "b: b1"]);
  });

  test("is a node, and participants that are not nodes listen; nodes must be participants", () => {
    const [a, listener] = [new TestAgent("a"), new TestAgent("listener")];
    expect(() => new GraphFlow([a, listener], graphOf({ a: ["ghost"], ghost: [] }))).toThrow(
      expect.objectContaining({
        issues: [
          {
            path: "graph.nodes.ghost",
            message: 'node "ghost" is not a participant; the participants are: a, listener',
          },
        ],
      }),
    );
    expect(() => new GraphFlow([a, listener], graphOf({ a: [] }))).not.toThrow();
  });
});
