import { isJsonObject } from "#core/json.ts";
import type { Json, JsonObject } from "troupe";
import { textOf } from "../trace.ts";
import { configOf } from "./place.ts";

interface Edge {
  from: string;
  target: string;
  condition: Json;
  group: string;
  activation: string;
}

/** Whether a GraphFlow is one that AutoGen loads, and refuses when it runs. */
export function cannotRun(team: JsonObject): boolean {
  const { graph, participants, max_turns, termination_condition } = configOf(team);
  if (!isJsonObject(graph) || !isJsonObject(graph["nodes"])) return false;
  const nodes = Object.keys(graph["nodes"]);
  const edges = edgesOf(graph["nodes"]);
  const names = new Set(
    [participants ?? []]
      .flat()
      .filter(isJsonObject)
      .map((one) => textOf(configOf(one)["name"])),
  );
  const isCyclic = hasCycle(nodes, edges);
  return (
    nodes.some((name) => !names.has(name)) ||
    edges.some(({ target }) => !nodes.includes(target)) ||
    nodes.every((name) => edges.some(({ target }) => target === name)) ||
    nodes.some((name) => mixes(edges.filter(({ from }) => from === name))) ||
    edges.some((edge) => edges.some((other) => conflict(edge, other))) ||
    hasCycle(
      nodes,
      edges.filter(({ condition }) => condition === null),
    ) ||
    (isCyclic && termination_condition == null && max_turns == null)
  );
}

function edgesOf(nodes: JsonObject): Edge[] {
  return Object.entries(nodes).flatMap(([from, node]) => {
    const edges = isJsonObject(node) && Array.isArray(node["edges"]) ? node["edges"] : [];
    return edges.filter(isJsonObject).map((edge) => ({
      from,
      target: textOf(edge["target"]),
      condition: edge["condition"] ?? edge["condition_function"] ?? null,
      group: textOf(edge["activation_group"]) || textOf(edge["target"]),
      activation: textOf(edge["activation_condition"]) || "all",
    }));
  });
}

function mixes(edges: readonly Edge[]): boolean {
  const conditional = edges.filter(({ condition }) => condition !== null);
  return conditional.length > 0 && conditional.length < edges.length;
}

function conflict(edge: Edge, other: Edge): boolean {
  return (
    edge.target === other.target &&
    edge.group === other.group &&
    edge.activation !== other.activation
  );
}

function hasCycle(nodes: readonly string[], edges: readonly Edge[]): boolean {
  let left = [...nodes];
  for (;;) {
    const next = left.filter((name) =>
      edges.some(({ from, target }) => target === name && left.includes(from)),
    );
    if (next.length === left.length) return left.length > 0;
    left = next;
  }
}
