import * as z from "zod";
import { type ComponentLoader, withoutNulls } from "../../component/component.ts";
import { functionName } from "../../component/functions.ts";
import { TroupeError } from "../../errors.ts";
import { pathOf } from "../../issues.ts";
import type { JsonObject } from "../../json.ts";
import type { DiGraphEdge, GraphEdge, EdgeFunction } from "./di-graph-node.ts";
import { DiGraph, type DiGraphOptions } from "./di-graph.ts";

const activationSchema = z.enum(["all", "any"]);

const edgeSchema = z
  .object({
    target: z.string(),
    condition: z.string().nullish(),
    /** The name of a registered function; AutoGen cannot write a function condition as JSON. */
    condition_function: z.string().nullish(),
    activation_group: z.string().default(""),
    activation_condition: activationSchema.default("all"),
  })
  .refine(({ condition, condition_function }) => condition == null || condition_function == null, {
    path: ["condition_function"],
    message: "an edge has a condition or a condition_function, not both",
  });

const nodeSchema = z.object({
  name: z.string(),
  edges: z.array(edgeSchema).default([]),
  activation: activationSchema.default("all"),
});

/** A graph in component JSON. */
export const diGraphSchema = z.object({
  nodes: z.record(z.string(), nodeSchema),
  default_start_node: z.string().nullish(),
});

type DiGraphConfig = z.infer<typeof diGraphSchema>;

/** @throws ComponentError when an edge names a function that is not registered */
export function readDiGraph(graph: DiGraphConfig, loader: ComponentLoader): DiGraph {
  return new DiGraph(graphOptions(graph, (name, path) => loader.function(name, path)));
}

/** The same graph for checks, which do not call the functions of its edges. */
export function checkedDiGraph(graph: DiGraphConfig): DiGraph {
  return new DiGraph(graphOptions(graph, () => () => true));
}

function graphOptions(
  { nodes, default_start_node }: DiGraphConfig,
  conditionFunction: (name: string, path: string) => EdgeFunction,
): DiGraphOptions {
  const edge = (
    written: z.infer<typeof edgeSchema>,
    valuePath: readonly PropertyKey[],
  ): DiGraphEdge => ({
    target: written.target,
    condition:
      written.condition_function == null
        ? written.condition
        : conditionFunction(
            written.condition_function,
            pathOf([...valuePath, "condition_function"], "graph"),
          ),
    activationGroup: written.activation_group,
    activationCondition: written.activation_condition,
  });
  return {
    nodes: Object.fromEntries(
      Object.entries(nodes).map(([key, node]) => [
        key,
        {
          ...node,
          edges: node.edges.map((written, index) => edge(written, ["nodes", key, "edges", index])),
        },
      ]),
    ),
    defaultStartNode: default_start_node,
  };
}

/** @throws TroupeError `not_serializable` when a condition is a function without a name: the edge would lose it */
export function writeDiGraph({ nodes, defaultStartNode }: DiGraph): JsonObject {
  return withoutNulls({
    nodes: Object.fromEntries(
      [...nodes].map(([key, { name, edges, activation }]) => [
        key,
        { name, edges: edges.map((edge) => writeEdge(edge, key)), activation },
      ]),
    ),
    default_start_node: defaultStartNode,
  });
}

function writeEdge({ target, condition, group, activation }: GraphEdge, node: string): JsonObject {
  const named = typeof condition === "function" ? functionName(condition) : undefined;
  if (typeof condition === "function" && named === undefined) {
    throw new TroupeError(
      "not_serializable",
      `the condition of the edge from "${node}" to "${target}" is a function without a name in component JSON; register it with registerFunction`,
    );
  }
  return withoutNulls({
    target,
    condition: typeof condition === "string" ? condition : null,
    condition_function: named,
    activation_group: group,
    activation_condition: activation,
  });
}
