import type { ChatMessage } from "../../messages/message.ts";
import { isComplete, isTaken } from "./di-graph-node.ts";
import type { DiGraph } from "./di-graph.ts";

/** How far a run has come, as JSON; null at its start. */
export type GraphPosition = {
  /** The nodes that speak next. */
  ready: string[];
  /** Taken edges per group since their target last spoke; groups without any are left out. */
  taken: { [target: string]: { [group: string]: number } };
} | null;

/**
 * How far a run has come in a graph: which nodes are to speak next, and how many edges of each group were taken since
 * their target spoke last. Only groups of which an edge was taken are kept, so that a turn costs what the edges of the
 * nodes that spoke cost, whatever the size of the graph.
 */
export class GraphProgress {
  readonly #graph: DiGraph;
  readonly #starts: readonly string[];
  readonly #taken = new Map<string, Map<string, number>>();
  #ready: string[];
  #isUnderWay = false;

  constructor(graph: DiGraph) {
    this.#graph = graph;
    this.#starts = graph.startNodes();
    this.#ready = [...this.#starts];
  }

  /** The nodes that speak next, one twice if two groups of its edges are complete. */
  get ready(): readonly string[] {
    return this.#ready;
  }

  restart(): void {
    this.#taken.clear();
    this.#ready = [...this.#starts];
    this.#isUnderWay = false;
  }

  /** Hands out the ready nodes; the groups that made them ready are counted from zero again. */
  takeReady(): readonly string[] {
    const nodes = this.#ready;
    this.#ready = [];
    this.#isUnderWay = true;
    for (const node of nodes) this.#countAnew(node);
    return nodes;
  }

  /** Follows the edges of a node that has spoken; their targets may become ready. */
  leave(node: string, message: ChatMessage | undefined): void {
    for (const edge of this.#graph.nodes.get(node)?.edges ?? []) {
      if (isTaken(edge, message) && this.#take(edge.target, edge.group)) {
        this.#ready.push(edge.target);
      }
    }
  }

  position(): GraphPosition {
    if (!this.#isUnderWay) return null;
    const taken = [...this.#taken].map(([target, groups]) => [target, Object.fromEntries(groups)]);
    return { ready: [...this.#ready], taken: Object.fromEntries(taken) };
  }

  moveTo(position: GraphPosition): void {
    this.restart();
    if (position === null) return;
    this.#isUnderWay = true;
    this.#ready = [...position.ready];
    for (const [target, groups] of Object.entries(position.taken)) {
      this.#taken.set(target, new Map(Object.entries(groups)));
    }
  }

  /** Takes an edge; returns whether that completes its group. */
  #take(target: string, name: string): boolean {
    const group = this.#graph.groups.get(target)?.get(name);
    const groups = this.#taken.get(target) ?? new Map<string, number>();
    const before = groups.get(name) ?? 0;
    this.#taken.set(target, groups.set(name, before + 1));
    return group !== undefined && !isComplete(group, before) && isComplete(group, before + 1);
  }

  #countAnew(node: string): void {
    const groups = this.#taken.get(node);
    if (groups === undefined) return;
    for (const [name, taken] of groups) {
      const group = this.#graph.groups.get(node)?.get(name);
      if (group === undefined || isComplete(group, taken)) groups.delete(name);
    }
    if (groups.size === 0) this.#taken.delete(node);
  }
}
