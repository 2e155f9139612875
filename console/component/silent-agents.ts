import { configOf, listOf } from "../picture/component-json.ts";
import type { ComponentData } from "./catalogue.ts";
import { withConnection } from "./connections.ts";
import { handsOver, namesIn } from "./edits.ts";
import { type ComponentEdge, edgesIn, graphOf, reachedFrom, startsIn } from "./graph.ts";
import { targetOf } from "./parts.ts";
import type { Mistake } from "./repairs.ts";
import { type ValuePath, valueAt } from "./value-path.ts";

/** The agents of a team that never speak: a sentence for each, and what lets it speak. */
export function silentAgents(root: ComponentData, team: ValuePath): Map<string, Mistake> {
  const names = namesIn(root, team);
  const silent = new Map<string, Mistake>();
  const [first] = names;
  if (first === undefined) return silent;
  const isGraph = graphOf(root, team) !== undefined;
  const edges = isGraph ? edgesIn(root, team) : handoffsIn(root, team);
  if (edges === undefined) return silent;
  const starts = isGraph ? startsIn(root, team) : [first];
  // A graph without a beginning has a mistake of its own.
  if (starts.length === 0) return silent;
  const reached = reachedFrom(edges, starts);
  const speakers = isGraph ? speakersOf(edgesIn(root, team), starts) : reached;
  for (const [index, name] of names.entries()) {
    if (speakers.has(name)) continue;
    const path = [...team, "config", "participants", index];
    const waits = edges.find(({ from, target }) => target === name && !speakers.has(from));
    const message = !isGraph
      ? `${name} never speaks: no agent hands over to it.`
      : reached.has(name) && waits !== undefined
        ? `${name} never speaks: it waits for ${waits.from}, which never speaks either.`
        : `${name} never speaks: no edge leads to it.`;
    const before = names.slice(0, index).findLast((one) => speakers.has(one)) ?? starts[0] ?? first;
    silent.set(name, {
      path,
      message,
      repair: {
        name: isGraph ? `Let it work after ${before}` : `Let ${before} hand over to it`,
        change: (all) => withConnection(all, team, before, name),
      },
    });
  }
  return silent;
}

/** The handoffs of a Swarm; undefined for teams without handoffs. */
function handoffsIn(
  root: ComponentData,
  team: ValuePath,
): { from: string; target: string }[] | undefined {
  if (!handsOver(root, team)) return undefined;
  return namesIn(root, team).flatMap((from, index) => {
    const { handoffs } = configOf(valueAt(root, [...team, "config", "participants", index]));
    return listOf(handoffs).map((handoff) => ({ from, target: targetOf(handoff) }));
  });
}

/** The agents that speak if every condition is met: those with a group of edges that can be complete. */
function speakersOf(edges: readonly ComponentEdge[], starts: readonly string[]): Set<string> {
  const speakers = new Set(starts);
  const groups = new Map<string, ComponentEdge[]>();
  for (const edge of edges) {
    const key = JSON.stringify([edge.target, edge.group]);
    groups.set(key, [...(groups.get(key) ?? []), edge]);
  }
  for (let before = -1; before < speakers.size;) {
    before = speakers.size;
    for (const group of groups.values()) {
      const taken = group.filter(({ from }) => speakers.has(from)).length;
      const isComplete = taken === group.length || (taken > 0 && group[0]?.any === true);
      if (isComplete) speakers.add(group[0]?.target ?? "");
    }
  }
  return speakers;
}
