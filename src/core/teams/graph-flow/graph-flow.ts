import type { ChatAgent } from "../../agents/chat-agent.ts";
import {
  type AnyComponentDefinition,
  type Component,
  componentDefinition,
} from "../../component/component.ts";
import { inConfig, whereNew } from "../../component/refused-where-new.ts";
import { ValueError } from "../../errors.ts";
import { listIssues } from "../../issues.ts";
import type { JsonObject } from "../../json.ts";
import { groupChatConfigSchema, loadGroupChat } from "../group-chat-config.ts";
import { GroupChat, type GroupChatOptions } from "../group-chat.ts";
import type { Team } from "../team.ts";
import { checkedDiGraph, diGraphSchema, readDiGraph, writeDiGraph } from "./di-graph-config.ts";
import type { DiGraph } from "./di-graph.ts";
import { graphNotes } from "./graph-notes.ts";
import { GraphFlowManager } from "./graph-flow-manager.ts";
import { findTeamIssues } from "./graph-rules.ts";
import { checkArgument, objectWith } from "../../options/options.ts";

const aGraph = objectWith("a DiGraph, which DiGraphBuilder makes", "startNodes", "cycles");

const configSchema = groupChatConfigSchema.extend({ graph: diGraphSchema });

/**
 * A team whose participants speak along the edges of a graph; those that are ready at the same time run side by side
 * (AutoGen `GraphFlow`). A run ends when no node is ready any more, or at a condition or limit; in the latter case
 * the next run continues from there.
 *
 * @throws ValueError when the graph cannot run ({@link DiGraph.validate}), a node is not a participant, a graph with a
 * cycle has neither a termination condition nor `maxTurns`, two participants have the same name, or `maxTurns` is not
 * positive
 *
 * @example
 * const builder = new DiGraphBuilder()
 *   .addNode(writer)
 *   .addNode(grammar)
 *   .addNode(style)
 *   .addNode(editor)
 *   .addEdge(writer, grammar)
 *   .addEdge(writer, style)
 *   .addEdge(grammar, editor)
 *   .addEdge(style, editor);
 * const team = new GraphFlow(builder.getParticipants(), builder.build());
 * const result = await run(team, { task: "Write about the sea." });
 */
export class GraphFlow extends GroupChat {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_agentchat.teams.GraphFlow",
    componentType: "team",
    role: "team",
    version: 1,
    configSchema,
    refusals: ({ graph }) => inConfig(checkedDiGraph(graph).deadlocks()),
    notes: ({ graph }) => inConfig(graphNotes(checkedDiGraph(graph))),
    fromConfig(config, loader) {
      const { participants, options } = loadGroupChat(config, loader);
      return new GraphFlow(participants, readDiGraph(config.graph, loader), options);
    },
  });
  readonly definition: Component["definition"] = GraphFlow.component;
  readonly #graph: DiGraph;

  constructor(
    participants: readonly (ChatAgent | Team)[],
    graph: DiGraph,
    options: GroupChatOptions = {},
  ) {
    checkArgument(aGraph, graph, "GraphFlow", "graph");
    super(participants, new GraphFlowManager(graph), {
      ...options,
      name: options.name || "GraphFlow",
      description: options.description || "A team of agents",
    });
    this.#graph = graph;
    const cycle = graph.cycles().first;
    const issues = [
      ...graph.issues(),
      ...whereNew(graph.deadlocks()),
      ...findTeamIssues(
        { nodes: graph.nodes, cycle },
        {
          participants: participants.map(({ name }) => name),
          isBounded: options.terminationCondition != null || options.maxTurns != null,
        },
      ),
    ];
    if (issues.length > 0) {
      throw new ValueError(`the graph cannot run: ${listIssues(issues)}`, { issues });
    }
  }

  override toConfig(): JsonObject {
    const { emit_team_events, ...config } = super.toConfig();
    return {
      ...config,
      graph: writeDiGraph(this.#graph),
      // AutoGen's GraphFlow lacks this key: it never shows its choice of speakers.
      ...(emit_team_events === true && { emit_team_events }),
    };
  }
}
