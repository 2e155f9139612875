import type { GraphEdge, GraphNodes } from "./di-graph-node.ts";

/** Cycles of a graph, as the nodes along them. */
export interface GraphCycles {
  /** The first that was found; undefined without any. */
  first: readonly string[] | undefined;
  /** The first of nodes whose edges all have no condition. */
  endless: readonly string[] | undefined;
}

/**
 * Goes through a graph in depth, node by node and edge by edge as they are written: which of several cycles are met
 * depends on the order, and AutoGen's is kept. Does not recurse, so that a long chain cannot exhaust the stack.
 */
export function findCycles(nodes: GraphNodes): GraphCycles {
  const found: GraphCycles = { first: undefined, endless: undefined };
  const visited = new Set<string>();
  for (const start of nodes.keys()) {
    if (!visited.has(start)) search(nodes, start, visited, found);
  }
  return found;
}

interface Step {
  name: string;
  edges: Iterator<GraphEdge>;
  /** The number of nodes of the path so far that have a condition. */
  conditional: number;
}

function search(nodes: GraphNodes, start: string, visited: Set<string>, found: GraphCycles): void {
  const path: Step[] = [];
  const places = new Map<string, number>();
  const enter = (name: string): void => {
    const edges = nodes.get(name)?.edges ?? [];
    const own = edges.some(({ condition }) => condition !== null) ? 1 : 0;
    const conditional = (path.at(-1)?.conditional ?? 0) + own;
    visited.add(name);
    places.set(name, path.length);
    path.push({ name, edges: edges.values(), conditional });
  };
  enter(start);
  for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
    const edge = step.edges.next();
    if (edge.done) {
      places.delete(step.name);
      path.pop();
      continue;
    }
    const { target } = edge.value;
    const position = places.get(target);
    if (!visited.has(target)) {
      enter(target);
    } else if (position !== undefined) {
      const cycle = (): string[] => path.slice(position).map(({ name }) => name);
      found.first ??= cycle();
      const before = path[position - 1]?.conditional ?? 0;
      if (step.conditional === before) found.endless ??= cycle();
    }
  }
}
