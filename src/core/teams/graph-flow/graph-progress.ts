import type { ChatMessage } from "../../messages/message.ts";
import { isComplete, isTaken } from "./di-graph-node.ts";
import type { DiGraph } from "./di-graph.ts";
import type { GraphEnd } from "./graph-end.ts";

/** The progress of a run as JSON; null before the first run. */
export type GraphPosition = {
  /** The nodes that speak next; empty after the end, if `turns` is known. */
  ready: string[];
  /** Taken edges per group since their target last spoke; groups with zero are left out. */
  taken: { [target: string]: { [group: string]: number } };
  /** The number of turns of each node since the graph was started; AutoGen does not record it. */
  turns?: { [node: string]: number };
  /** Nodes with edges whose last message took none; left out if there are none. AutoGen does not record them. */
  halted?: string[];
} | null;

/**
 * The progress of a run in a graph: which nodes speak next, and how many edges of each group were taken since their
 * target last spoke. Only groups with a taken edge are kept, so that the cost of a turn depends only on the edges of
 * the nodes that spoke, whatever the size of the graph.
 */
export class GraphProgress {
  readonly #graph: DiGraph;
  readonly #starts: readonly string[];
  readonly #taken = new Map<string, Map<string, number>>();
  readonly #turns = new Map<string, number>();
  #ready: string[];
  #isUnderWay = false;
  readonly #halted = new Set<string>();
  /** True if a node that is not in `turns` may have spoken, because AutoGen saved the state. */
  #mayHaveSpoken = false;

  constructor(graph: DiGraph) {
    this.#graph = graph;
    this.#starts = graph.startNodes();
    this.#ready = [...this.#starts];
  }

  /** The nodes that speak next; a node is listed twice if two groups of its edges are complete. */
  get ready(): readonly string[] {
    return this.#ready;
  }

  /** The number of turns of each node since the graph was started. */
  get turns(): { [node: string]: number } {
    return Object.fromEntries(this.#turns);
  }

  /** True if it has run to its end and no other run has started. */
  get isOver(): boolean {
    return !this.#isUnderWay && this.#turns.size > 0;
  }

  /** The open ends when no node is ready any more. */
  get openEnds(): GraphEnd {
    const silent = [...this.#graph.nodes.keys()].filter((node) => !this.#turns.has(node));
    return {
      halted: [...this.#halted],
      taken: this.#taken,
      silent: this.#mayHaveSpoken ? undefined : silent,
    };
  }

  restart(): void {
    this.#turns.clear();
    this.#mayHaveSpoken = false;
    this.end();
  }

  /** The next run starts over. */
  end(): void {
    this.#taken.clear();
    this.#halted.clear();
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
    this.#turns.set(node, (this.#turns.get(node) ?? 0) + 1);
    this.#isUnderWay = true;
    const edges = this.#graph.nodes.get(node)?.edges ?? [];
    const taken = edges.filter((edge) => isTaken(edge, message));
    for (const { target, group } of taken) {
      if (this.#take(target, group)) this.#ready.push(target);
    }
    if (edges.length > 0 && taken.length === 0) this.#halted.add(node);
    else this.#halted.delete(node);
  }

  position(): GraphPosition {
    const { turns } = this;
    if (this.isOver) return { ready: [], taken: {}, turns };
    if (!this.#isUnderWay) return null;
    const taken = [...this.#taken].map(([target, groups]) => [target, Object.fromEntries(groups)]);
    const halted = [...this.#halted];
    return {
      ready: [...this.#ready],
      taken: Object.fromEntries(taken),
      turns,
      ...(halted.length > 0 && { halted }),
    };
  }

  moveTo(position: GraphPosition): void {
    this.restart();
    if (position === null) return;
    for (const [node, turns] of Object.entries(position.turns ?? {})) {
      // The graph in which the node was may have been replaced.
      if (this.#graph.nodes.has(node) || this.#starts.includes(node)) this.#turns.set(node, turns);
    }
    if (isOver(position)) return;
    this.#isUnderWay = true;
    this.#mayHaveSpoken = position.turns === undefined;
    for (const node of position.halted ?? []) {
      if (this.#graph.nodes.has(node)) this.#halted.add(node);
    }
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

/** True for the progress of a completed graph. A state that AutoGen has saved may also have no ready nodes. */
export function isOver(position: NonNullable<GraphPosition>): boolean {
  return position.ready.length === 0 && position.turns !== undefined;
}
