import * as z from "zod";
import { type Issue, ValueError } from "../../errors.ts";
import { listIssues } from "../../issues.ts";
import {
  completeNode,
  type DiGraphNode,
  type GraphEdgeGroups,
  groupEdges,
  type GraphNodes,
} from "./di-graph-node.ts";
import { type GraphCycles, findCycles } from "./find-cycles.ts";
import { findDeadlocks } from "./graph-deadlocks.ts";
import { findGraphIssues } from "./graph-rules.ts";
import { anything, aText, checkOptions, type OptionsSchema } from "../../options/options.ts";

export interface DiGraphOptions {
  /** By name; edges and participants refer to the key. */
  nodes: { readonly [name: string]: DiGraphNode };
  /** The first node of a run. Default: every node that no edge leads to. */
  defaultStartNode?: string | null | undefined;
}

const optionsSchema: OptionsSchema<DiGraphOptions> = z.object({
  nodes: z.record(z.string(), anything),
  defaultStartNode: aText.nullish(),
});

/**
 * The order in which participants speak (AutoGen `DiGraph`); a {@link DiGraphBuilder} is a shorter way to write one.
 *
 * @example
 * const graph = new DiGraph({
 *   nodes: {
 *     writer: { name: "writer", edges: [{ target: "critic" }] },
 *     critic: {
 *       name: "critic",
 *       edges: [
 *         { target: "writer", condition: "AGAIN" },
 *         { target: "printer", condition: "FINE" },
 *       ],
 *     },
 *     printer: { name: "printer" },
 *   },
 *   defaultStartNode: "writer",
 * });
 */
export class DiGraph {
  readonly nodes: GraphNodes;
  readonly defaultStartNode: string | null;
  readonly groups: GraphEdgeGroups;
  #cycles: GraphCycles | undefined;

  /** Takes any graph; {@link validate} says whether it can run. */
  constructor(options: DiGraphOptions) {
    const { nodes, defaultStartNode } = checkOptions(optionsSchema, options, "DiGraph");
    this.nodes = new Map(Object.entries(nodes).map(([key, node]) => [key, completeNode(node)]));
    this.defaultStartNode = defaultStartNode ?? null;
    this.groups = groupEdges(this.nodes);
  }

  /** The first nodes of a run, in the order of the nodes. */
  startNodes(): string[] {
    if (this.defaultStartNode) return [this.defaultStartNode];
    return [...this.nodes.keys()].filter((name) => !this.groups.has(name));
  }

  /** The nodes without outgoing edges. */
  leafNodes(): string[] {
    return [...this.nodes].filter(([, { edges }]) => edges.length === 0).map(([name]) => name);
  }

  /** For each node the nodes with an edge to it, once per edge. */
  parents(): Map<string, string[]> {
    const parents = new Map([...this.nodes.keys()].map((name): [string, string[]] => [name, []]));
    for (const [name, { edges }] of this.nodes) {
      for (const { target } of edges) parents.get(target)?.push(name);
    }
    return parents;
  }

  cycles(): GraphCycles {
    this.#cycles ??= findCycles(this.nodes);
    return this.#cycles;
  }

  /** Why the graph cannot run; paths are those of a team's config: `graph.nodes.a.edges[0]`. */
  issues(): Issue[] {
    return findGraphIssues({
      nodes: this.nodes,
      starts: this.startNodes(),
      leaves: this.leafNodes(),
      endless: this.cycles().endless,
    });
  }

  /** Loops that can never run again. A graph that was stored with one runs until it gets there. */
  deadlocks(): Issue[] {
    return findDeadlocks(this.nodes, this.groups, this.startNodes());
  }

  /**
   * Checks that the graph can run (AutoGen `graph_validate`).
   *
   * @throws ValueError with all {@link issues} and {@link deadlocks}
   */
  validate(): void {
    const issues = [...this.issues(), ...this.deadlocks()];
    if (issues.length === 0) return;
    throw new ValueError(`the graph cannot run: ${listIssues(issues)}`, { issues });
  }
}
