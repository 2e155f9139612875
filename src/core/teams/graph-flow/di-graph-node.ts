import type { ChatMessage } from "../../messages/message.ts";
import { toModelText } from "../../messages/views.ts";

/** The condition for the target of a group of edges: it runs after all of them were taken, or after the first. */
export type Activation = "all" | "any";

/** Decides from the last message of a node whether an edge is taken. Must be a pure function of its argument. */
export type EdgeFunction = (message: ChatMessage) => boolean;

/** An edge as it is written (AutoGen `DiGraphEdge`). */
export interface DiGraphEdge {
  target: string;
  /** A text that the node's message must contain, or a function; without one the edge is always taken. */
  condition?: string | EdgeFunction | null | undefined;
  /** Edges to one target that are counted together; a node in a loop has several groups. Default: the target's name. */
  activationGroup?: string | null | undefined;
  /** The same for all edges of a group. Default `all`. */
  activationCondition?: Activation | null | undefined;
}

/** A node as it is written (AutoGen `DiGraphNode`): the participant of its name. */
export interface DiGraphNode {
  name: string;
  edges?: readonly DiGraphEdge[];
  /** Kept and ignored, as in AutoGen; the edges decide. Default `all`. */
  activation?: Activation;
}

/** An edge with its defaults filled in. */
export interface GraphEdge {
  readonly target: string;
  readonly condition: string | EdgeFunction | null;
  readonly group: string;
  readonly activation: Activation;
}

/** A node with its defaults filled in. */
export interface GraphNode {
  readonly name: string;
  readonly edges: readonly GraphEdge[];
  readonly activation: Activation;
}

export type GraphNodes = ReadonlyMap<string, GraphNode>;

/** An edge of a group: its source, and its place among the edges of the source. */
export interface GroupedEdge {
  readonly source: string;
  readonly index: number;
  readonly edge: GraphEdge;
}

/** The edges to one target that are counted together. */
export interface GraphEdgeGroup {
  readonly activation: Activation;
  readonly edges: readonly GroupedEdge[];
}

/** The groups of incoming edges, for each node that has any. */
export type GraphEdgeGroups = ReadonlyMap<string, ReadonlyMap<string, GraphEdgeGroup>>;

export function completeNode({ name, edges = [], activation = "all" }: DiGraphNode): GraphNode {
  return {
    name,
    activation,
    edges: edges.map((edge) => ({
      target: edge.target,
      condition: edge.condition ?? null,
      group: edge.activationGroup || edge.target,
      activation: edge.activationCondition ?? "all",
    })),
  };
}

export function groupEdges(nodes: GraphNodes): GraphEdgeGroups {
  const targets = new Map<string, Map<string, GraphEdgeGroup & { edges: GroupedEdge[] }>>();
  for (const [source, { edges }] of nodes) {
    for (const [index, edge] of edges.entries()) {
      const { target, group: name, activation } = edge;
      const groups =
        targets.get(target) ?? new Map<string, GraphEdgeGroup & { edges: GroupedEdge[] }>();
      const group = groups.get(name) ?? { activation, edges: [] };
      group.edges.push({ source, index, edge });
      targets.set(target, groups.set(name, group));
    }
  }
  return targets;
}

/** True if an edge is taken after the last message of its node; a team may have sent none. */
export function isTaken({ condition }: GraphEdge, message: ChatMessage | undefined): boolean {
  if (condition === null) return true;
  if (message === undefined) return false;
  return typeof condition === "string"
    ? toModelText(message).includes(condition)
    : condition(message);
}

/** True if this many taken edges complete the group. */
export function isComplete({ activation, edges }: GraphEdgeGroup, taken: number): boolean {
  return taken >= (activation === "all" ? edges.length : 1);
}
