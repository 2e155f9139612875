import type { DiGraphEdge, GroupChatOptions, JsonObject } from "troupe";
import { DiGraph, GraphFlow } from "troupe";
import { speaker, TestAgent } from "../../support/agents.ts";

/** Nodes with their edges, an edge without more as the name of its target. */
export type Edges = { [node: string]: readonly (string | DiGraphEdge)[] };

export function graphOf(edges: Edges, defaultStartNode?: string): DiGraph {
  const nodes = Object.entries(edges).map(([name, list]) => [
    name,
    { name, edges: list.map((edge) => (typeof edge === "string" ? { target: edge } : edge)) },
  ]);
  return new DiGraph({ nodes: Object.fromEntries(nodes), defaultStartNode });
}

/** A graph of agents that say their name and a number. */
export function flow(
  edges: Edges,
  { start, ...options }: GroupChatOptions & { start?: string } = {},
): GraphFlow {
  const agents = Object.keys(edges).map((name) => new TestAgent(name));
  return new GraphFlow(agents, graphOf(edges, start), options);
}

/** An agent that says these texts, one after the other. */
export function saying(name: string, ...replies: string[]): TestAgent {
  let next = 0;
  return speaker(name, () => replies[next++] ?? "");
}

/** A graph's own part of a team's state. */
export function managerState(team: GraphFlow): JsonObject {
  const { agent_states } = team.saveState() as { agent_states: { [name: string]: JsonObject } };
  const { message_thread: _thread, ...state } = agent_states["GraphManager"] ?? {};
  return state;
}
