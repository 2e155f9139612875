import type { Issue } from "../../errors.ts";
import { pathOf } from "../../issues.ts";
import type { GraphEdgeGroup, GraphEdgeGroups, GraphNodes, GroupedEdge } from "./di-graph-node.ts";
import { reachability, reachableFrom, speakersOf } from "./graph-reach.ts";

/**
 * Loops that can never run again, because a node waits for an edge of its own loop together with another one: an edge from
 * outside is taken only once, and the loop does not begin without it. The path is that of the edge in the loop.
 */
export function findDeadlocks(
  nodes: GraphNodes,
  groups: GraphEdgeGroups,
  starts: readonly string[],
): Issue[] {
  const reached = reachableFrom(nodes, starts);
  const from = reachability(nodes);
  // A node that nothing reaches gets a note. It does not make a loop of the graph a deadlock.
  const unreached = [...nodes.keys()].filter((name) => !reached.has(name));
  const speakers = speakersOf(nodes, groups, [...starts, ...unreached]);
  const issues: Issue[] = [];
  for (const [target, ofTarget] of groups) {
    if (!reached.has(target)) continue;
    for (const [name, group] of ofTarget) {
      if (group.activation !== "all" || group.edges.length < 2) continue;
      const deadlock = findDeadlock(target, group, from(target), speakers);
      if (deadlock !== undefined) issues.push(issueOf(deadlock, target, name));
    }
  }
  return issues;
}

interface Deadlock {
  /** The edge in the loop. */
  inside: GroupedEdge;
  other: GroupedEdge;
}

/** @param after the nodes that paths lead to from the target */
function findDeadlock(
  target: string,
  { edges }: GraphEdgeGroup,
  after: ReadonlySet<string>,
  speakers: ReadonlySet<string>,
): Deadlock | undefined {
  const inLoop = edges.filter(({ source }) => after.has(source));
  const outside = edges.find(({ source }) => !after.has(source));
  const [first] = inLoop;
  if (first === undefined) return undefined;
  if (outside !== undefined) return { inside: first, other: outside };
  if (speakers.has(target)) return undefined;
  const inside = inLoop.find(({ source }) => !speakers.has(source));
  const other = inLoop.find(({ source }) => speakers.has(source));
  return inside && other && { inside, other };
}

function issueOf({ inside, other }: Deadlock, target: string, group: string): Issue {
  return {
    path: pathOf(["nodes", inside.source, "edges", inside.index], "graph"),
    message: `node "${target}" waits for the edge from "${inside.source}", which is in a loop with it, together with the edge from "${other.source}" (both are in the activation group "${group}" with the activation condition "all"), so the loop can never run again. Give the edge from "${inside.source}" to "${target}" an "activation_group" of its own, or all edges of the group "activation_condition": "any"`,
  };
}
