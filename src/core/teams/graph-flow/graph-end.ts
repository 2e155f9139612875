import { functionName } from "../../component/functions.ts";
import type { GraphEdge } from "./di-graph-node.ts";
import type { DiGraph } from "./di-graph.ts";

const COMPLETE = "Digraph execution is complete";

/** The position of a run of a graph when no node is ready any more. */
export interface GraphEnd {
  /** Nodes with edges, none of whose conditions their last message matched. */
  halted: readonly string[];
  /** Taken edges per group, of groups that were not completed. */
  taken: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** Nodes that have not spoken since the graph was started; undefined if that is not known. */
  silent: readonly string[] | undefined;
}

/**
 * The stop reason of a run: AutoGen's if no node waits, otherwise what the run waited for. A message that matches no condition
 * is the natural end of a run in which every node has spoken.
 */
export function stopReason(graph: DiGraph, { halted, taken, silent }: GraphEnd): string {
  const reasons = [
    ...(silent?.length === 0 ? [] : halted).map((name) =>
      unmatched(name, graph.nodes.get(name)?.edges ?? []),
    ),
    ...[...taken].flatMap(([target, groups]) =>
      Array.from(groups, ([name, count]) => {
        const edges = graph.groups.get(target)?.get(name)?.edges ?? [];
        const sources = listed(edges.map(({ source }) => source));
        return `"${target}" waits for all ${edges.length} edges of its activation group "${name}" (from ${sources}), and ${count} ${count === 1 ? "was" : "were"} taken`;
      }),
    ),
  ];
  if (reasons.length === 0) return COMPLETE;
  const never = silent?.length ? [`never spoke: ${listed(silent)}`] : [];
  return `Digraph execution cannot continue: ${[...reasons, ...never].join("; ")}`;
}

function unmatched(name: string, edges: readonly GraphEdge[]): string {
  const conditions = edges.map(({ condition, target }) => {
    const description =
      typeof condition === "function"
        ? `the function ${functionName(condition) ?? (condition.name || "without a name")}`
        : JSON.stringify(condition);
    return `${description} (to "${target}")`;
  });
  return `the last message of "${name}" matches no condition of its edges: ${conditions.join(", ")}`;
}

function listed(names: Iterable<string>): string {
  return [...new Set(names)].map((name) => `"${name}"`).join(", ");
}
