import type { ChatMessage } from "../../messages/message.ts";
import { toModelText } from "../../messages/views.ts";

/** Whether all edges of a group must have been taken before their target runs, or one is enough. */
export type Activation = "all" | "any";

/** Says of the last message of a node whether an edge is taken. Must depend on nothing but its argument. */
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
  /** AutoGen keeps it and does not read it; the edges decide. Default `all`. */
  activation?: Activation;
}

/** An edge with its defaults filled in. */
export interface Edge {
  readonly target: string;
  readonly condition: string | EdgeFunction | null;
  readonly group: string;
  readonly activation: Activation;
}

/** A node with its defaults filled in. */
export interface Node {
  readonly name: string;
  readonly edges: readonly Edge[];
  readonly activation: Activation;
}

export type Nodes = ReadonlyMap<string, Node>;

/** The edges to one target that are counted together. */
export interface EdgeGroup {
  readonly activation: Activation;
  /** How many edges there are. */
  readonly size: number;
}

/** Of every node that edges lead to, the groups of these edges. */
export type EdgeGroups = ReadonlyMap<string, ReadonlyMap<string, EdgeGroup>>;

export function completeNode({ name, edges = [], activation = "all" }: DiGraphNode): Node {
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

export function groupEdges(nodes: Nodes): EdgeGroups {
  const targets = new Map<string, Map<string, EdgeGroup>>();
  for (const { target, group, activation } of [...nodes.values()].flatMap(({ edges }) => edges)) {
    const groups = targets.get(target) ?? new Map<string, EdgeGroup>();
    const before = groups.get(group) ?? { activation, size: 0 };
    groups.set(group, { ...before, size: before.size + 1 });
    targets.set(target, groups);
  }
  return targets;
}

/** Whether an edge is taken after what its node said last; a team may have said nothing. */
export function isTaken({ condition }: Edge, message: ChatMessage | undefined): boolean {
  if (condition === null) return true;
  if (message === undefined) return false;
  return typeof condition === "string"
    ? toModelText(message).includes(condition)
    : condition(message);
}

/** Whether so many edges of a group are enough for their target. */
export function isComplete({ activation, size }: EdgeGroup, taken: number): boolean {
  return taken >= (activation === "all" ? size : 1);
}
