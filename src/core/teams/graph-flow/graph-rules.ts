import type { Issue } from "../../errors.ts";
import { pathOf } from "../../issues.ts";
import type { Activation, GraphNodes } from "./di-graph-node.ts";

/** The facts that the rules check. */
export interface GraphFacts {
  nodes: GraphNodes;
  starts: readonly string[];
  leaves: readonly string[];
  /** A cycle of nodes whose edges all have no condition. */
  endless: readonly string[] | undefined;
}

/** AutoGen's `dump_component` writes no functions, so an edge with a function condition looks unconditional. */
export const LOST_FUNCTION =
  "If an edge's condition was a Python function, the dump has left it out: register a function and name it as condition_function";

/** Every rule that a graph breaks, and where; paths are those of a team's config. AutoGen reports the first one. */
export function findGraphIssues(graph: GraphFacts): Issue[] {
  if (graph.nodes.size === 0) {
    return [{ path: "graph.nodes", message: "a graph needs at least one node" }];
  }
  return [
    ...unknownTargets(graph),
    ...ends(graph),
    ...mixedEdges(graph),
    ...conflicts(graph),
    ...endlessCycles(graph),
  ];
}

/** Why a team cannot run a valid graph. */
export function findTeamIssues(
  { nodes, cycle }: { nodes: GraphNodes; cycle: readonly string[] | undefined },
  { participants, isBounded }: { participants: readonly string[]; isBounded: boolean },
): Issue[] {
  const issues = [...nodes.keys()]
    .filter((name) => !participants.includes(name))
    .map((name) => ({
      path: pathOf(["nodes", name], "graph"),
      message: `node "${name}" is not a participant; the participants are: ${participants.join(", ")}`,
    }));
  if (cycle === undefined || isBounded) return issues;
  const message = `the graph has a cycle (${showCycle(cycle)}), so the team needs a termination_condition or max_turns`;
  return [...issues, { path: "termination_condition", message }];
}

/** A cycle as a text: `a -> b -> a`. */
function showCycle(cycle: readonly string[]): string {
  return [...cycle, ...cycle.slice(0, 1)].join(" -> ");
}

function* unknownTargets({ nodes }: GraphFacts): Generator<Issue> {
  for (const [name, { edges }] of nodes) {
    for (const [index, { target }] of edges.entries()) {
      if (nodes.has(target)) continue;
      yield {
        path: pathOf(["nodes", name, "edges", index, "target"], "graph"),
        message: `node "${name}" has an edge to "${target}", which is not a node`,
      };
    }
  }
}

function* ends({ nodes, starts, leaves }: GraphFacts): Generator<Issue> {
  const names = [...nodes.keys()].map((name) => `"${name}"`).join(", ");
  if (starts.length === 0) {
    const message = `no node is a start: edges lead to all of ${names}; name one as default_start_node`;
    yield { path: "graph.default_start_node", message };
  }
  if (leaves.length === 0) {
    yield { path: "graph.nodes", message: `no node is an end: edges leave all of ${names}` };
  }
}

function* mixedEdges({ nodes }: GraphFacts): Generator<Issue> {
  for (const [name, { edges }] of nodes) {
    const conditional = edges.filter(({ condition }) => condition !== null).length;
    if (conditional === 0 || conditional === edges.length) continue;
    yield {
      path: pathOf(["nodes", name, "edges"], "graph"),
      message: `node "${name}" has edges with a condition and edges without; all need one, or none. ${LOST_FUNCTION}`,
    };
  }
}

function* conflicts({ nodes }: GraphFacts): Generator<Issue> {
  const first = new Map<string, { name: string; activation: Activation }>();
  for (const [name, { edges }] of nodes) {
    for (const [index, { target, group, activation }] of edges.entries()) {
      const key = JSON.stringify([target, group]);
      const before = first.get(key);
      if (before === undefined) first.set(key, { name, activation });
      else if (before.activation !== activation) {
        yield {
          path: pathOf(["nodes", name, "edges", index, "activation_condition"], "graph"),
          message: `the edges to "${target}" in group "${group}" disagree: "${before.activation}" from "${before.name}", "${activation}" from "${name}"`,
        };
      }
    }
  }
}

function* endlessCycles({ endless }: GraphFacts): Generator<Issue> {
  if (endless === undefined) return;
  const message = `the cycle ${showCycle(endless)} has no edge with a condition, so nothing would end it. ${LOST_FUNCTION}`;
  yield { path: pathOf(["nodes", ...endless.slice(0, 1)], "graph"), message };
}
