import {
  type GraphEdgeGroup,
  type GraphEdgeGroups,
  type GraphNodes,
  isComplete,
} from "./di-graph-node.ts";

/** The nodes that paths lead to from `starts`, which are among them. */
export function reachableFrom(nodes: GraphNodes, starts: Iterable<string>): Set<string> {
  const reached = new Set<string>(starts);
  // A loop over a set also visits what is added to it meanwhile.
  for (const name of reached) {
    for (const { target } of nodes.get(name)?.edges ?? []) reached.add(target);
  }
  return reached;
}

/** For each node, the nodes that paths lead to from it: the node itself is among them. Each is computed once. */
export function reachability(nodes: GraphNodes): (name: string) => ReadonlySet<string> {
  const cache = new Map<string, ReadonlySet<string>>();
  return (name) => {
    const reached = cache.get(name) ?? reachableFrom(nodes, [name]);
    cache.set(name, reached);
    return reached;
  };
}

/** The nodes that speak if every condition matches: those in `first`, and each of whose edges a group can be completed. */
export function speakersOf(
  nodes: GraphNodes,
  groups: GraphEdgeGroups,
  first: Iterable<string>,
): Set<string> {
  const speakers = new Set(first);
  const taken = new Map<GraphEdgeGroup, number>();
  // As above: the loop also visits the nodes that it adds.
  for (const name of speakers) {
    for (const { target, group: key } of nodes.get(name)?.edges ?? []) {
      const group = groups.get(target)?.get(key);
      if (group === undefined) continue;
      const count = (taken.get(group) ?? 0) + 1;
      taken.set(group, count);
      if (isComplete(group, count)) speakers.add(target);
    }
  }
  return speakers;
}
