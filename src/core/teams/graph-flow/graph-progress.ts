import * as z from "zod";
import { type Issue, StateError } from "../../errors.ts";
import { issuesOf, listIssues, pathOf } from "../../issues.ts";
import type { Json, JsonObject } from "../../json.ts";
import type { ChatMessage } from "../../messages/message.ts";
import { type EdgeGroup, isTaken } from "./di-graph-node.ts";
import type { DiGraph } from "./di-graph.ts";

const stateSchema = z.object({
  remaining: z.record(z.string(), z.record(z.string(), z.number().int())),
  enqueued_any: z.record(z.string(), z.record(z.string(), z.boolean())),
  ready: z.array(z.string()),
  troupe: z.object({ under_way: z.boolean().default(true) }).optional(),
});

/** What is stored between turns: nothing of nodes that are as they were at the start. */
type Head = {
  ready: string[];
  taken: { [target: string]: { [group: string]: number } };
};

/**
 * How far a run has come in a graph: which nodes are to speak next, and how many edges of each group were taken since
 * their target spoke last. Only groups of which an edge was taken are kept, so that a step costs what the edges of the
 * nodes that spoke cost, whatever the size of the graph.
 */
export class GraphProgress {
  readonly #graph: DiGraph;
  readonly #taken = new Map<string, Map<string, number>>();
  #ready: string[];

  constructor(graph: DiGraph) {
    this.#graph = graph;
    this.#ready = graph.startNodes();
  }

  /** The nodes that speak next, one twice if two groups of its edges are complete. */
  get ready(): readonly string[] {
    return this.#ready;
  }

  restart(): void {
    this.#taken.clear();
    this.#ready = this.#graph.startNodes();
  }

  /** Hands out the ready nodes; the groups that made them ready are counted from zero again. */
  takeReady(): string[] {
    const nodes = this.#ready;
    this.#ready = [];
    for (const node of nodes) this.#recount(node);
    return nodes;
  }

  /** A node has spoken: what its edges lead to may become ready. */
  leave(node: string, message: ChatMessage | undefined): void {
    for (const edge of this.#graph.nodes.get(node)?.edges ?? []) {
      if (isTaken(edge, message)) this.#take(edge.target, edge.group);
    }
  }

  /** AutoGen's keys of its manager state. */
  saveState(): JsonObject {
    const remaining: JsonObject = {};
    const enqueued: JsonObject = {};
    for (const [target, groups] of this.#graph.groups) {
      const each = (show: (group: EdgeGroup, taken: number) => Json): JsonObject =>
        Object.fromEntries(
          [...groups].map(([name, group]) => [name, show(group, this.#count(target, name))]),
        );
      remaining[target] = each(({ activation, size }, taken) =>
        activation === "all" ? size - taken : size,
      );
      enqueued[target] = each(({ activation }, taken) => activation === "any" && taken > 0);
    }
    return {
      remaining,
      enqueued_any: enqueued,
      ready: [...this.#ready],
      troupe: { under_way: this.#isUnderWay() },
    };
  }

  /**
   * AutoGen forgets which groups made the ready nodes ready, and after loading counts them on from zero; these are the
   * complete ones, so that nothing more has to be stored. Complete groups of other nodes are left from that mistake.
   * @throws StateError
   */
  loadState(state: JsonObject): void {
    const result = stateSchema.safeParse(state);
    if (!result.success) throw invalid(issuesOf(result.error));
    const { remaining, enqueued_any, ready, troupe } = result.data;
    if (ready.length === 0 || troupe?.under_way === false) {
      this.restart();
      return;
    }
    const issues = [...this.#misfits(remaining, enqueued_any, ready)];
    if (issues.length > 0) throw invalid(issues);
    this.#taken.clear();
    this.#ready = ready;
    for (const [target, groups] of this.#graph.groups) {
      for (const [name, group] of groups) {
        const left = remaining[target]?.[name] ?? group.size;
        const any = enqueued_any[target]?.[name] ? 1 : 0;
        const taken = group.activation === "all" ? group.size - left : any;
        const stale = isComplete(group, taken) && !ready.includes(target);
        if (taken > 0 && !stale) this.#groupsOf(target).set(name, taken);
      }
    }
  }

  head(): Json {
    const taken = [...this.#taken].map(([target, groups]) => [target, Object.fromEntries(groups)]);
    return { ready: [...this.#ready], taken: Object.fromEntries(taken) };
  }

  loadHead(head: Json): void {
    const { ready, taken } = head as Head;
    this.#ready = [...ready];
    this.#taken.clear();
    for (const [target, groups] of Object.entries(taken)) {
      this.#taken.set(target, new Map(Object.entries(groups)));
    }
  }

  /** Whether the graph has all that a head of another graph speaks of. */
  fits(head: Json): boolean {
    const { ready, taken } = head as Head;
    const starts = this.#graph.startNodes();
    return (
      ready.every((name) => this.#graph.nodes.has(name) || starts.includes(name)) &&
      Object.entries(taken).every(([target, groups]) =>
        Object.entries(groups).every(
          ([name, count]) => count <= (this.#graph.groups.get(target)?.get(name)?.size ?? 0),
        ),
      )
    );
  }

  #take(target: string, name: string): void {
    const group = this.#graph.groups.get(target)?.get(name);
    if (group === undefined) return;
    const before = this.#count(target, name);
    this.#groupsOf(target).set(name, before + 1);
    if (!isComplete(group, before) && isComplete(group, before + 1)) this.#ready.push(target);
  }

  #recount(node: string): void {
    const groups = this.#taken.get(node);
    if (groups === undefined) return;
    for (const [name, taken] of groups) {
      const group = this.#graph.groups.get(node)?.get(name);
      if (group === undefined || isComplete(group, taken)) groups.delete(name);
    }
    if (groups.size === 0) this.#taken.delete(node);
  }

  #count(target: string, group: string): number {
    return this.#taken.get(target)?.get(group) ?? 0;
  }

  #groupsOf(target: string): Map<string, number> {
    const groups = this.#taken.get(target) ?? new Map<string, number>();
    this.#taken.set(target, groups);
    return groups;
  }

  #isUnderWay(): boolean {
    const starts = this.#graph.startNodes();
    const atStart =
      this.#ready.length === starts.length &&
      this.#ready.every((name, index) => name === starts[index]);
    return !atStart || this.#taken.size > 0;
  }

  *#misfits(
    remaining: { [target: string]: { [group: string]: number } },
    enqueued: { [target: string]: { [group: string]: boolean } },
    ready: readonly string[],
  ): Generator<Issue> {
    const { nodes, groups } = this.#graph;
    const starts = this.#graph.startNodes();
    for (const [index, name] of ready.entries()) {
      if (nodes.has(name) || starts.includes(name)) continue;
      yield { path: pathOf(["ready", index]), message: `"${name}" is no node of this graph` };
    }
    for (const [key, targets] of Object.entries({ remaining, enqueued_any: enqueued })) {
      for (const [target, counts] of Object.entries(targets)) {
        for (const [name, left] of Object.entries(counts)) {
          const group = groups.get(target)?.get(name);
          const path = pathOf([key, target, name]);
          if (group === undefined) {
            const message = `no edge leads to "${target}" in a group "${name}"`;
            yield { path, message };
          } else if (typeof left === "number" && left > group.size) {
            yield { path, message: `there are only ${group.size} edges, not ${left}` };
          }
        }
      }
    }
  }
}

function isComplete({ activation, size }: EdgeGroup, taken: number): boolean {
  return taken >= (activation === "all" ? size : 1);
}

function invalid(issues: Issue[]): StateError {
  return new StateError(`not a state of this graph: ${listIssues(issues)}`, { issues });
}
