import { fieldsOf, listOf, textOf } from "../picture/component-json.ts";
import { type ValuePath, valueAt, withValue } from "./value-path.ts";

/** An edge of a graph, as the component has it. */
export interface ComponentEdge {
  path: ValuePath;
  from: string;
  target: string;
  condition: string;
  /** The name of a function of the server that decides instead of a condition. */
  decidedBy: string;
  /** The edges of its target that are counted together. */
  group: string;
  /** True if its target runs when any edge of its group was taken, not only after all of them. */
  any: boolean;
}

/** The place of a team's graph; undefined if it has none. */
export function graphOf(root: unknown, team: ValuePath): ValuePath | undefined {
  const path = [...team, "config", "graph"];
  return textOf(fieldsOf(valueAt(root, team))["provider"]).endsWith(".GraphFlow") ||
    valueAt(root, path) != null
    ? path
    : undefined;
}

/** The edges from a participant. */
export function edgesFrom(root: unknown, team: ValuePath, name: string): ComponentEdge[] {
  const list = edgeList(root, team, name);
  return listOf(valueAt(root, list)).map((edge, index) => {
    const { target, condition, condition_function, activation_group, activation_condition } =
      fieldsOf(edge);
    return {
      path: [...list, index],
      from: name,
      target: textOf(target),
      condition: textOf(condition),
      decidedBy: textOf(condition_function),
      group: textOf(activation_group) || textOf(target),
      any: activation_condition === "any",
    };
  });
}

/** The names of all nodes of a graph. */
export function nodesIn(root: unknown, team: ValuePath): string[] {
  return Object.entries(fieldsOf(valueAt(root, nodesAt(team)))).map(
    ([key, node]) => textOf(fieldsOf(node)["name"]) || key,
  );
}

/** All edges of a graph. */
export function edgesIn(root: unknown, team: ValuePath): ComponentEdge[] {
  return nodesIn(root, team).flatMap((name) => edgesFrom(root, team, name));
}

/** The agents at which a graph begins. */
export function startsIn(root: unknown, team: ValuePath): string[] {
  const entry = entryOf(root, team);
  if (entry !== "") return [entry];
  const targets = new Set(edgesIn(root, team).map(({ target }) => target));
  return nodesIn(root, team).filter((name) => !targets.has(name));
}

/** The agents that edges lead to from these, which are among them. */
export function reachedFrom(
  edges: readonly Pick<ComponentEdge, "from" | "target">[],
  starts: Iterable<string>,
): Set<string> {
  const next = new Map<string, string[]>();
  for (const { from, target } of edges) next.set(from, [...(next.get(from) ?? []), target]);
  const reached = new Set(starts);
  // A loop over a set also visits the nodes that it adds.
  for (const name of reached) {
    for (const target of next.get(name) ?? []) reached.add(target);
  }
  return reached;
}

/** Sets for all edges of a group if one of them is enough: they have to agree. */
export function withAny<T>(root: T, team: ValuePath, edge: ComponentEdge, any: boolean): T {
  let next = root;
  for (const { path, target, group } of edgesIn(root, team)) {
    if (target !== edge.target || group !== edge.group) continue;
    next = withValue(next, [...path, "activation_condition"], any ? "any" : undefined);
  }
  return next;
}

export function withEdge<T>(root: T, team: ValuePath, from: string, to: string): T {
  const edges = edgesFrom(root, team, from);
  // A second edge to the same target makes sense with a condition only.
  if (edges.some(({ target, condition }) => target === to && condition === "")) return root;
  const list = edgeList(root, team, from);
  const known = [from, to]
    .filter((name) => !nodesIn(root, team).includes(name))
    .reduce((next, name) => withNode(next, team, name), root);
  return withValue(known, list, [...listOf(valueAt(known, list)), { target: to }]);
}

/** The participant at which the graph begins; empty if it begins at every participant without an edge to it. */
export function entryOf(root: unknown, team: ValuePath): string {
  return textOf(valueAt(root, [...team, "config", "graph", "default_start_node"]));
}

export function withEntry<T>(root: T, team: ValuePath, name: string): T {
  return withValue(
    root,
    [...team, "config", "graph", "default_start_node"],
    name === "" ? undefined : name,
  );
}

/** Adds a participant to the graph. @param from the one after which it works */
export function withNode<T>(root: T, team: ValuePath, name: string, from?: string): T {
  const next = withValue(root, [...nodesAt(team), name], { name, edges: [] });
  return from === undefined ? next : withEdge(next, team, from, name);
}

/** Removes a participant from the graph, with the edges to it. */
export function withoutNode<T>(root: T, team: ValuePath, name: string): T {
  if (graphOf(root, team) === undefined) return root;
  const removed = withValue(root, [...nodesAt(team), keyOf(root, team, name)], undefined);
  const unlinked = mapEdges(removed, team, (edge) => (edge["target"] === name ? undefined : edge));
  return entryOf(root, team) === name ? withEntry(unlinked, team, "") : unlinked;
}

/** Nodes keep their order. */
export function withRenamedNode<T>(root: T, team: ValuePath, before: string, name: string): T {
  if (graphOf(root, team) === undefined) return root;
  const key = keyOf(root, team, before);
  const nodes = Object.entries(fieldsOf(valueAt(root, nodesAt(team))));
  const renamed = nodes.map(([other, node]) =>
    other === key ? [name, { ...fieldsOf(node), name }] : [other, node],
  );
  const next = withValue(root, nodesAt(team), Object.fromEntries(renamed));
  const linked = mapEdges(next, team, (edge) =>
    edge["target"] === before ? { ...edge, target: name } : edge,
  );
  return entryOf(root, team) === before ? withEntry(linked, team, name) : linked;
}

/** A graph in which each participant works after the one before. */
export function inChain<T>(root: T, team: ValuePath, names: readonly string[]): T {
  const nodes = names.map((name, index) => {
    const target = names[index + 1];
    return [name, { name, edges: target === undefined ? [] : [{ target }] }];
  });
  return withValue(root, [...team, "config", "graph"], { nodes: Object.fromEntries(nodes) });
}

function nodesAt(team: ValuePath): ValuePath {
  return [...team, "config", "graph", "nodes"];
}

function edgeList(root: unknown, team: ValuePath, name: string): ValuePath {
  return [...nodesAt(team), keyOf(root, team, name), "edges"];
}

/** The key of a participant's node: usually its name. */
function keyOf(root: unknown, team: ValuePath, name: string): string {
  const nodes = Object.entries(fieldsOf(valueAt(root, nodesAt(team))));
  return nodes.find(([, node]) => fieldsOf(node)["name"] === name)?.[0] ?? name;
}

type Edge = { readonly [key: string]: unknown };

/** @param change undefined removes the edge */
function mapEdges<T>(root: T, team: ValuePath, change: (edge: Edge) => Edge | undefined): T {
  const nodes = Object.entries(fieldsOf(valueAt(root, nodesAt(team)))).map(([key, node]) => {
    const edges = listOf(fieldsOf(node)["edges"]).flatMap((edge) => change(fieldsOf(edge)) ?? []);
    return [key, { ...fieldsOf(node), edges }];
  });
  return withValue(root, nodesAt(team), Object.fromEntries(nodes));
}
