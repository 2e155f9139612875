import * as z from "zod";
import { type Issue, StateError } from "../../errors.ts";
import { issuesOf, listIssues, pathOf } from "../../issues.ts";
import type { Json, JsonObject } from "../../json.ts";
import { type GraphEdgeGroup, isComplete } from "./di-graph-node.ts";
import type { DiGraph } from "./di-graph.ts";
import { type GraphPosition, isOver } from "./graph-progress.ts";

const stateSchema = z.object({
  remaining: z.record(z.string(), z.record(z.string(), z.number().int())),
  enqueued_any: z.record(z.string(), z.record(z.string(), z.boolean())),
  ready: z.array(z.string()),
  troupe: z
    .object({
      under_way: z.boolean().default(true),
      turns: z.record(z.string(), z.number().int().nonnegative()).optional(),
      halted: z.array(z.string()).optional(),
    })
    .optional(),
});
type State = z.infer<typeof stateSchema>;

/** The keys of AutoGen's manager state. `under_way` is false where the next run starts over, which fits any graph. */
export function writeGraphState(graph: DiGraph, position: GraphPosition): JsonObject {
  const underWay = position !== null && !isOver(position);
  const { turns, halted } = position ?? {};
  const taken = (target: string, group: string): number => position?.taken[target]?.[group] ?? 0;
  const each = (show: (group: GraphEdgeGroup, taken: number) => Json): JsonObject =>
    Object.fromEntries(
      [...graph.groups].map(([target, groups]) => [
        target,
        Object.fromEntries(
          [...groups].map(([name, group]) => [name, show(group, taken(target, name))]),
        ),
      ]),
    );
  return {
    remaining: each(({ activation, edges }, count) =>
      activation === "all" ? edges.length - count : edges.length,
    ),
    enqueued_any: each(({ activation }, count) => activation === "any" && count > 0),
    ready: underWay ? position.ready : graph.startNodes(),
    troupe: { under_way: underWay, ...(turns && { turns }), ...(halted && { halted }) },
  };
}

/**
 * AutoGen does not record which groups made a node ready and so never resets their counts. They are the complete
 * groups, so nothing more has to be stored. Complete groups of nodes that are not ready are leftovers of that mistake.
 *
 * @throws StateError
 */
export function readGraphState(graph: DiGraph, state: JsonObject): GraphPosition {
  const result = stateSchema.safeParse(state);
  if (!result.success) throw invalid(issuesOf(result.error));
  const { remaining, enqueued_any, ready, troupe } = result.data;
  const { turns, halted } = troupe ?? {};
  if (troupe?.under_way === false)
    return turns === undefined ? null : { ready: [], taken: {}, turns };
  const issues = [...misfits(graph, result.data)];
  if (issues.length > 0) throw invalid(issues);
  const taken = [...graph.groups].map(([target, groups]): [string, { [group: string]: number }] => {
    const counts = [...groups].map(([name, group]): [string, number] => {
      const left = remaining[target]?.[name] ?? group.edges.length;
      const any = enqueued_any[target]?.[name] === true ? 1 : 0;
      const count = group.activation === "all" ? group.edges.length - left : any;
      return [name, isComplete(group, count) && !ready.includes(target) ? 0 : count];
    });
    return [target, Object.fromEntries(counts.filter(([, count]) => count > 0))];
  });
  const some = taken.filter(([, counts]) => Object.keys(counts).length > 0);
  const isAtStart = some.length === 0 && ready.join() === graph.startNodes().join();
  if (isAtStart && turns === undefined) return null;
  return {
    ready,
    taken: Object.fromEntries(some),
    ...(turns && { turns }),
    ...(halted && { halted }),
  };
}

/** True if a position of another graph is valid in this one: its nodes and groups exist, no other group is complete. */
export function isPositionIn(graph: DiGraph, position: GraphPosition): boolean {
  if (position === null) return true;
  const { ready, taken } = position;
  return (
    ready.every(isNodeOf(graph)) &&
    Object.entries(taken).every(([target, groups]) =>
      Object.entries(groups).every(([name, count]) => {
        const group = graph.groups.get(target)?.get(name);
        return group !== undefined && (ready.includes(target) || !isComplete(group, count));
      }),
    )
  );
}

function* misfits(graph: DiGraph, { remaining, enqueued_any, ready }: State): Generator<Issue> {
  const isNode = isNodeOf(graph);
  for (const [index, name] of ready.entries()) {
    if (isNode(name)) continue;
    yield { path: pathOf(["ready", index]), message: `"${name}" is not a node of this graph` };
  }
  const counters: [string, { [target: string]: { [group: string]: number | boolean } }][] = [
    ["remaining", remaining],
    ["enqueued_any", enqueued_any],
  ];
  for (const [key, targets] of counters) {
    for (const [target, groups] of Object.entries(targets)) {
      for (const [name, count] of Object.entries(groups)) {
        const message = misfit(graph, target, name, count);
        if (message !== undefined) yield { path: pathOf([key, target, name]), message };
      }
    }
  }
}

function misfit(
  graph: DiGraph,
  target: string,
  name: string,
  count: number | boolean,
): string | undefined {
  const group = graph.groups.get(target)?.get(name);
  if (group === undefined) return `no edge leads to "${target}" in a group "${name}"`;
  if (typeof count === "boolean" || count <= group.edges.length) return undefined;
  return `there are only ${group.edges.length} edges, not ${count}`;
}

function isNodeOf(graph: DiGraph): (name: string) => boolean {
  const starts = new Set(graph.startNodes());
  return (name) => graph.nodes.has(name) || starts.has(name);
}

function invalid(issues: Issue[]): StateError {
  return new StateError(`not a state of this graph: ${listIssues(issues)}`, { issues });
}
