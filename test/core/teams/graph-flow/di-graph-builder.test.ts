import { describe, expect, test } from "vitest";
import { DiGraphBuilder, GraphFlow, run } from "troupe";
import { lines, TestAgent } from "../../support/agents.ts";
import { saying } from "./graphs.ts";

const agents = () =>
  ["a", "b", "c"].map((name) => new TestAgent(name)) as [TestAgent, TestAgent, TestAgent];

describe("a builder", () => {
  test("makes a graph of agents or their names", () => {
    const [a, b, c] = agents();
    const isShort = () => true;
    const builder = new DiGraphBuilder()
      .addNode(a)
      .addNode(b, "any")
      .addNode(c)
      .addNode(a, "any")
      .addEdge(a, "b", { activationGroup: "g", activationCondition: "any" })
      .addEdge("b", c, { condition: isShort })
      .addConditionalEdges(b, { back: "a", on: c })
      .setEntryPoint(a);
    const graph = builder.build();
    expect(builder.getParticipants()).toEqual([a, b, c]);
    expect(graph.defaultStartNode).toBe("a");
    expect([...graph.nodes.values()]).toEqual([
      {
        name: "a",
        activation: "all",
        edges: [{ target: "b", condition: null, group: "g", activation: "any" }],
      },
      {
        name: "b",
        activation: "any",
        edges: [
          { target: "c", condition: isShort, group: "c", activation: "all" },
          { target: "a", condition: "back", group: "a", activation: "all" },
          { target: "c", condition: "on", group: "c", activation: "all" },
        ],
      },
      { name: "c", activation: "all", edges: [] },
    ]);
  });

  test("refuses ends that are not nodes, and graphs that cannot run", () => {
    const [a, b] = agents();
    const builder = () => new DiGraphBuilder().addNode(a);
    expect(() => builder().addEdge(b, a)).toThrow(/begins at "b", which is not a node/);
    expect(() => builder().addEdge(a, "b")).toThrow(/leads to "b", .* \(nodes: "a"\)/);
    expect(() => builder().addConditionalEdges(a, { x: b })).toThrow(/leads to "b"/);
    expect(() => new DiGraphBuilder().setEntryPoint("b")).toThrow(/"b", .* \(nodes: none\)/);
    expect(() => builder().addEdge(a, a).setEntryPoint(a).build()).toThrow(/cannot run.*a -> a/);
  });

  test("continues after a graph was built, which stays as it is", () => {
    const [a, b, c] = agents();
    const builder = new DiGraphBuilder().addNode(a).addNode(b).addEdge(a, b);
    const graph = builder.build();
    builder.addNode(c).addEdge(a, c);
    expect(graph.leafNodes()).toEqual(["b"]);
    expect(builder.build().leafNodes()).toEqual(["b", "c"]);
  });

  test("its graph runs", async () => {
    const [writer, printer] = [new TestAgent("writer"), new TestAgent("printer")];
    const critic = saying("critic", "AGAIN", "FINE");
    const builder = new DiGraphBuilder()
      .addNode(writer)
      .addNode(critic)
      .addNode(printer)
      .addEdge(writer, critic)
      .addConditionalEdges(critic, { AGAIN: writer, FINE: printer })
      .setEntryPoint(writer);
    const team = new GraphFlow(builder.getParticipants(), builder.build(), { maxTurns: 20 });
    expect(lines((await run(team, { task: "go" })).messages)).toEqual([
      "user: go",
      "writer: writer1",
      "critic: AGAIN",
      "writer: writer2",
      "critic: FINE",
      "printer: printer1",
    ]);
  });
});
