import { pathOf } from "../../issues.ts";
import type { Note } from "../../component/component.ts";
import type { GraphEdgeGroup, GroupedEdge } from "./di-graph-node.ts";
import type { DiGraph } from "./di-graph.ts";
import { reachability, reachableFrom, speakersOf } from "./graph-reach.ts";
import { LOST_FUNCTION } from "./graph-rules.ts";

/** Remarks on a graph that can run, but perhaps not as its author expects. */
export function graphNotes(graph: DiGraph): Note[] {
  return [...unreached(graph), ...differentConditions(graph), ...lostConditions(graph)];
}

/** Nodes without a path from a start, and nodes that wait for one of them. */
function* unreached(graph: DiGraph): Generator<Note> {
  const { nodes, groups } = graph;
  const starts = graph.startNodes();
  const reached = reachableFrom(nodes, starts);
  const first = starts.map((name) => `"${name}"`).join(", ");
  for (const name of nodes.keys()) {
    if (reached.has(name)) continue;
    const message = `no path leads from the start (${first}) to node "${name}", so it never speaks`;
    yield { path: pathOf(["nodes", name], "graph"), message };
  }
  const speakers = speakersOf(nodes, groups, starts);
  for (const [target, ofTarget] of groups) {
    if (speakers.has(target) || !reached.has(target)) continue;
    const missing = [...ofTarget.values()]
      .flatMap(({ edges }) => edges)
      .find(({ source }) => !reached.has(source));
    if (missing === undefined) continue;
    const message = `node "${target}" waits for "${missing.source}", which never speaks, so it never speaks either`;
    yield { path: pathOf(["nodes", target], "graph"), message };
  }
}

/** Nodes that wait for edges which different conditions lead to: one of them may not match. */
function* differentConditions(graph: DiGraph): Generator<Note> {
  const before = conditionsBefore(graph);
  for (const [target, ofTarget] of graph.groups) {
    for (const { activation, edges } of ofTarget.values()) {
      if (activation !== "all" || edges.length < 2) continue;
      const needed = edges.map((edge) => withOwn(edge, before.get(edge.source) ?? new Set()));
      const every = [...new Set(needed.flatMap((set) => [...set]))];
      const differing = every.filter((edge) => !needed.every((set) => set.has(edge)));
      if (differing.length === 0) continue;
      const sources = edges.map(({ source }) => `"${source}"`).join(", ");
      const conditions = differing.map(edgeText).join(", ");
      yield {
        path: pathOf(["nodes", target], "graph"),
        message: `node "${target}" waits for all of ${sources}, which depend on different conditions (${conditions}): it speaks only if all of these match. If one of the edges is enough, give all of them "activation_condition": "any"`,
      };
    }
  }
}

/**
 * Nodes with several edges that have no condition and whose targets do not meet again in a node that waits for all: such a
 * fan may have been a choice whose conditions the dump left out.
 */
function* lostConditions({ nodes, groups }: DiGraph): Generator<Note> {
  const from = reachability(nodes);
  const joins = [...groups.values()]
    .flatMap((ofTarget) => [...ofTarget.values()])
    .filter(({ activation, edges }) => activation === "all" && edges.length > 1);
  for (const [name, { edges }] of nodes) {
    const targets = [...new Set(edges.map(({ target }) => target))];
    if (targets.length < 2 || edges.some(({ condition }) => condition !== null)) continue;
    const meetIn = ({ edges: into }: GraphEdgeGroup): boolean =>
      targets.every((target) => into.some(({ source }) => from(target).has(source)));
    if (joins.some(meetIn)) continue;
    const all = targets.map((target) => `"${target}"`).join(", ");
    yield {
      path: pathOf(["nodes", name, "edges"], "graph"),
      message: `no edge of node "${name}" has a condition, so all of ${all} speak after it. ${LOST_FUNCTION}`,
    };
  }
}

/** For each node the edges whose conditions must have matched before it speaks, whatever way led to it. */
function conditionsBefore(graph: DiGraph): Map<string, ReadonlySet<GroupedEdge>> {
  const before = new Map<string, ReadonlySet<GroupedEdge>>(
    graph.startNodes().map((name) => [name, new Set()]),
  );
  for (let changed = true; changed;) {
    changed = false;
    for (const [target, ofTarget] of graph.groups) {
      const existing = before.get(target);
      if (existing?.size === 0) continue;
      const ways = [...ofTarget.values()].flatMap((group) => waysThrough(group, before));
      const [first, ...others] = ways;
      if (first === undefined) continue;
      const common = new Set([...first].filter((edge) => others.every((way) => way.has(edge))));
      if (existing?.size === common.size) continue;
      before.set(target, common);
      changed = true;
    }
  }
  return before;
}

/**
 * The conditions that must have matched for each way to complete a group; ways from nodes that are not known yet are left
 * out.
 */
function waysThrough(
  { activation, edges }: GraphEdgeGroup,
  before: ReadonlyMap<string, ReadonlySet<GroupedEdge>>,
): Set<GroupedEdge>[] {
  const ways = edges.flatMap((edge) => {
    const found = before.get(edge.source);
    return found === undefined ? [] : [withOwn(edge, found)];
  });
  if (activation === "any") return ways;
  return ways.length < edges.length ? [] : [new Set(ways.flatMap((way) => [...way]))];
}

function withOwn(edge: GroupedEdge, before: ReadonlySet<GroupedEdge>): Set<GroupedEdge> {
  return edge.edge.condition === null ? new Set(before) : new Set([...before, edge]);
}

function edgeText({ source, edge: { condition } }: GroupedEdge): string {
  return `${typeof condition === "function" ? "a function" : JSON.stringify(condition)} of "${source}"`;
}
