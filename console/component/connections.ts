import { configOf, fieldsOf, textOf } from "../picture/component-json.ts";
import { handsOver, withHandoff } from "./edits.ts";
import {
  type ComponentEdge,
  edgesFrom,
  edgesIn,
  graphOf,
  reachedFrom,
  startsIn,
  withEdge,
  withEntry,
} from "./graph.ts";
import { targetOf } from "./parts.ts";
import { type ValuePath, valueAt, withValue } from "./value-path.ts";

/** The limit of a team whose graph gets its first loop. */
export const TURNS_OF_A_LOOP = 20;

/** The agents at the ends of an edge or a handoff. */
export function connectionAt(
  root: unknown,
  team: ValuePath,
  path: ValuePath,
): { from: string; to: string; edge: ComponentEdge | undefined } {
  const edge = edgesIn(root, team).find((one) => String(one.path) === String(path));
  if (edge !== undefined) return { from: edge.from, to: edge.target, edge };
  const source = configOf(valueAt(root, path.slice(0, -3)));
  return { from: textOf(source["name"]), to: targetOf(valueAt(root, path)), edge: undefined };
}

/** True if the agents of a team are connected by hand. */
export function connects(root: unknown, team: ValuePath): boolean {
  return graphOf(root, team) !== undefined || handsOver(root, team);
}

/**
 * Connects an agent with the one after it. An edge that closes a loop of a graph is enough for its target, which would wait for
 * the edges of its first turn otherwise; the graph still begins where it began, and has a limit.
 */
export function withConnection<T>(root: T, team: ValuePath, from: string, to: string): T {
  if (graphOf(root, team) === undefined) return withHandoff(root, team, from, to);
  const next = withEdge(root, team, from, to);
  const added = edgesFrom(next, team, from).at(-1);
  if (next === root || added === undefined) return root;
  if (!isInLoop(edgesIn(next, team), added)) return freed(next, team, to);
  const [first = to] = startsIn(root, team);
  const looped = freed(alone(next, team, added), team, to);
  const begun = startsIn(looped, team).length > 0 ? looped : withEntry(looped, team, first);
  return isBounded(begun, team) ? begun : withTurns(begun, team);
}

/** True if its target leads back to it. */
export function isInLoop(
  edges: readonly ComponentEdge[],
  { from, target }: ComponentEdge,
): boolean {
  return reachedFrom(edges, [target]).has(from);
}

/** True if a run ends even if no condition of a loop is met. */
export function isBounded(root: unknown, team: ValuePath): boolean {
  const { max_turns, termination_condition } = configOf(valueAt(root, team));
  return max_turns != null || termination_condition != null;
}

export function withTurns<T>(root: T, team: ValuePath): T {
  return withValue(root, [...team, "config", "max_turns"], TURNS_OF_A_LOOP);
}

/** The edge of a loop in a group of its own, so that its target does not wait for others. */
export function alone<T>(root: T, team: ValuePath, edge: ComponentEdge): T {
  const { path, target } = edge;
  const edges = edgesIn(root, team);
  const known = edges.find(
    (one) => one.target === target && one.any && one.group !== target && isInLoop(edges, one),
  );
  const group = known?.group ?? `${target}_again`;
  const value = {
    ...fieldsOf(valueAt(root, path)),
    activation_group: group,
    activation_condition: "any",
  };
  return withValue(root, path, value);
}

/** The edges of loops for which an agent waits together with edges from outside, so that it never continues. */
export function stuckEdges(root: unknown, team: ValuePath): (ComponentEdge & { other: string })[] {
  const edges = edgesIn(root, team);
  return edges.flatMap((edge) => {
    if (edge.any || !isInLoop(edges, edge)) return [];
    const after = reachedFrom(edges, [edge.target]);
    const other = edges.find(
      ({ target, group, from }) =>
        target === edge.target && group === edge.group && !after.has(from),
    );
    return other === undefined ? [] : [{ ...edge, other: other.from }];
  });
}

/** The component in which an agent, and those in a loop with it, wait for no edge of their loop together with others. */
function freed<T>(root: T, team: ValuePath, name: string): T {
  const edges = edgesIn(root, team);
  const after = reachedFrom(edges, [name]);
  const loop = new Set([...after].filter((one) => reachedFrom(edges, [one]).has(name)));
  return stuckEdges(root, team)
    .filter(({ target }) => loop.has(target))
    .reduce((next, edge) => alone(next, team, edge), root);
}
