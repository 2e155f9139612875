import type { Stop } from "../../conditions/termination-condition.ts";
import type { Json, JsonObject } from "../../json.ts";
import { isChatMessage } from "../../messages/views.ts";
import type { AgentEvent } from "../../messages/message.ts";
import type { Decision, GroupChatManager, Spoken } from "../group-chat-manager.ts";
import type { DiGraph } from "./di-graph.ts";
import { stopReason } from "./graph-end.ts";
import { type GraphPosition, GraphProgress } from "./graph-progress.ts";
import { isPositionIn, readGraphState, writeGraphState } from "./graph-state.ts";

/** Selects the ready nodes of a graph, which run concurrently (AutoGen `GraphFlowManager`). */
export class GraphFlowManager implements GroupChatManager {
  readonly name = "GraphManager";
  readonly #graph: DiGraph;
  readonly #progress: GraphProgress;

  /** @param graph a valid graph whose nodes are all participants */
  constructor(graph: DiGraph) {
    this.#graph = graph;
    this.#progress = new GraphProgress(graph);
  }

  /** A task fires no edges, whatever its source. The edges of a participant fire by its own name, not by an inner agent's. */
  observe(spoken: readonly Spoken[]): void {
    for (const { name, messages } of spoken) {
      if (name === null) this.#beginTask();
      else this.#progress.leave(name, messages.findLast(isChatMessage));
    }
  }

  // oxlint-disable-next-line require-yield
  async *decide(): AsyncGenerator<AgentEvent, Decision, void> {
    this.#beginAnew();
    return { kind: "speak", speakers: this.#progress.takeReady() };
  }

  /** A complete graph has no next node: the last one reads the message, and its edges fire again. */
  goOn(last: readonly string[]): readonly string[] | undefined {
    return this.nextSpeakers(last);
  }

  nextSpeakers(last: readonly string[]): readonly string[] | undefined {
    return this.#progress.ready.length > 0 || last.length === 0 ? undefined : last;
  }

  finished(): Stop | undefined {
    if (this.#progress.ready.length > 0) return undefined;
    return { content: stopReason(this.#graph, this.#progress.openEnds), source: this.name };
  }

  /** A finished graph starts over; an interrupted one continues with the next run. */
  onStop(): void {
    if (this.#progress.ready.length === 0) this.#progress.end();
  }

  reset(): void {
    this.#progress.restart();
  }

  saveState(): JsonObject {
    return writeGraphState(this.#graph, this.#progress.position());
  }

  loadState(state: JsonObject): void {
    this.#progress.moveTo(readGraphState(this.#graph, state));
  }

  /** `ready`: the nodes that speak next, or now. `turns`: how often each has spoken since the graph was started. */
  visibleState(): JsonObject {
    const { isOver, ready, turns } = this.#progress;
    return { graph: { ready: isOver ? [] : [...ready], turns } };
  }

  head(): Json {
    return this.#progress.position();
  }

  loadHead(head: Json): void {
    this.#progress.moveTo(head as GraphPosition);
  }

  fits(head: Json): boolean {
    return isPositionIn(this.#graph, head as GraphPosition);
  }

  /** An interrupted run continues with the new task. */
  #beginTask(): void {
    if (this.#progress.isOver) this.#progress.restart();
    this.#beginAnew();
  }

  /** No node is ready after AutoGen saved the graph in the middle of a turn. */
  #beginAnew(): void {
    if (this.#progress.ready.length === 0) this.#progress.restart();
  }
}
