import * as z from "zod";
import type { ChatAgent } from "../../agents/chat-agent.ts";
import { ValueError } from "../../errors.ts";
import type { Team } from "../team.ts";
import type { Activation, DiGraphEdge } from "./di-graph-node.ts";
import { DiGraph } from "./di-graph.ts";
import { aFunction, aText, checkOptions, type OptionsSchema } from "../../options/options.ts";

/** A participant, or its name. */
export type GraphNodeRef = ChatAgent | Team | string;

/** The options of an edge. */
export type EdgeOptions = Omit<DiGraphEdge, "target">;

const edgeOptionsSchema: OptionsSchema<EdgeOptions> = z.object({
  condition: z.union([aText, aFunction]).nullish(),
  activationGroup: aText.nullish(),
  activationCondition: z.enum(["all", "any"]).nullish(),
});

/**
 * Puts a {@link DiGraph} together from the participants of a team (AutoGen `DiGraphBuilder`).
 *
 * @example
 * const builder = new DiGraphBuilder()
 *   .addNode(writer)
 *   .addNode(critic)
 *   .addNode(printer)
 *   .addEdge(writer, critic)
 *   .addConditionalEdges(critic, { AGAIN: writer, FINE: printer })
 *   .setEntryPoint(writer);
 * const team = new GraphFlow(builder.getParticipants(), builder.build(), { maxTurns: 20 });
 */
export class DiGraphBuilder {
  readonly #nodes = new Map<
    string,
    { agent: ChatAgent | Team; edges: DiGraphEdge[]; activation: Activation }
  >();
  #entryPoint: string | null = null;

  /** An existing node is left unchanged. */
  addNode(agent: ChatAgent | Team, activation: Activation = "all"): this {
    const { name } = agent;
    if (!this.#nodes.has(name)) this.#nodes.set(name, { agent, edges: [], activation });
    return this;
  }

  /** @throws ValueError when one of the two was not added as a node */
  addEdge(source: GraphNodeRef, target: GraphNodeRef, options: EdgeOptions = {}): this {
    checkOptions(edgeOptionsSchema, options, "addEdge");
    const { edges } = this.#node(source, "an edge begins at");
    this.#node(target, "an edge leads to");
    edges.push({ ...options, target: nameOf(target) });
    return this;
  }

  /**
   * One conditional edge per entry: the text that the source's message must contain, and the edge's target.
   *
   * @throws ValueError when one of the ends was not added as a node
   */
  addConditionalEdges(
    source: GraphNodeRef,
    targets: { readonly [condition: string]: GraphNodeRef },
  ): this {
    for (const [condition, target] of Object.entries(targets)) {
      this.addEdge(source, target, { condition });
    }
    return this;
  }

  /** @throws ValueError when it was not added as a node */
  setEntryPoint(node: GraphNodeRef): this {
    this.#node(node, "the entry point is");
    this.#entryPoint = nameOf(node);
    return this;
  }

  /** @throws ValueError with an issue for every rule that the graph breaks */
  build(): DiGraph {
    const nodes = [...this.#nodes].map(
      ([name, { edges, activation }]) => [name, { name, edges: [...edges], activation }] as const,
    );
    const graph = new DiGraph({
      nodes: Object.fromEntries(nodes),
      defaultStartNode: this.#entryPoint,
    });
    graph.validate();
    return graph;
  }

  /** The participants that were added as nodes, in that order. */
  getParticipants(): (ChatAgent | Team)[] {
    return [...this.#nodes.values()].map(({ agent }) => agent);
  }

  #node(ref: GraphNodeRef, role: string): { edges: DiGraphEdge[] } {
    const name = nameOf(ref);
    const node = this.#nodes.get(name);
    if (node) return node;
    const names = [...this.#nodes.keys()].map((key) => `"${key}"`).join(", ") || "none";
    throw new ValueError(
      `${role} "${name}", which is not a node; add it with addNode first (nodes: ${names})`,
    );
  }
}

function nameOf(ref: GraphNodeRef): string {
  return typeof ref === "string" ? ref : ref.name;
}
