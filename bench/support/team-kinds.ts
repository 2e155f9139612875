import {
  AssistantAgent,
  BufferedChatCompletionContext,
  DiGraphBuilder,
  GraphFlow,
  MagenticOneGroupChat,
  ReplayChatCompletionClient,
  RoundRobinGroupChat,
  SelectorGroupChat,
  Swarm,
  createHandoff,
  type ReplayOptions,
} from "troupe";
import type { ChatAgent, Team } from "troupe";

type Replies = ConstructorParameters<typeof ReplayChatCompletionClient>[0];

/** The number of messages that each model sees. */
const BUFFER = 10;

function replay(replies: Replies, options: ReplayOptions = {}): ReplayChatCompletionClient {
  return new ReplayChatCompletionClient(replies, { cycle: true, ...options });
}

function agent(name: string, ...replies: string[]): AssistantAgent {
  const sentence = `This is what ${name} says every time, in a sentence or two. It is of ordinary length.`;
  return new AssistantAgent({
    name,
    modelClient: replay(replies.length > 0 ? replies : [sentence]),
    modelContext: new BufferedChatCompletionContext(BUFFER),
  });
}

const pair = (): ChatAgent[] => [agent("ada"), agent("ben")];

/** Hands over to the other agent in each turn. */
function handingOver(name: string, target: string): ChatAgent {
  const handoff = createHandoff({ target });
  return new AssistantAgent({
    name,
    handoffs: [handoff],
    modelContext: new BufferedChatCompletionContext(BUFFER),
    modelClient: replay(
      [
        {
          finish_reason: "function_calls",
          content: [{ id: "1", arguments: "{}", name: handoff.name }],
          usage: { prompt_tokens: 0, completion_tokens: 0 },
          cached: false,
        },
      ],
      {
        modelInfo: {
          vision: false,
          functionCalling: true,
          jsonOutput: false,
          structuredOutput: false,
          family: "unknown",
        },
      },
    ),
  });
}

function ledger(speaker: string): string {
  const entry = (answer: string | boolean) => ({ reason: "It is so.", answer });
  return JSON.stringify({
    is_request_satisfied: entry(false),
    is_in_loop: entry(false),
    is_progress_being_made: entry(true),
    next_speaker: entry(speaker),
    instruction_or_question: entry("Go on with the next thing, please."),
  });
}

/** A team of each kind whose run takes `turns` turns. */
export const TEAM_KINDS: { readonly [kind: string]: (turns: number) => Team } = {
  RoundRobinGroupChat: (maxTurns) => new RoundRobinGroupChat(pair(), { maxTurns }),
  SelectorGroupChat: (maxTurns) =>
    new SelectorGroupChat([...pair(), agent("cleo")], {
      modelClient: replay(["ada", "ben", "cleo"]),
      modelContext: new BufferedChatCompletionContext(BUFFER),
      maxTurns,
    }),
  Swarm: (maxTurns) =>
    new Swarm([handingOver("ada", "ben"), handingOver("ben", "ada")], { maxTurns }),
  MagenticOneGroupChat: (turns) =>
    new MagenticOneGroupChat(pair(), {
      // Facts and plan, a ledger for each turn, and the final answer.
      modelClient: new ReplayChatCompletionClient([
        "Nothing is known.",
        "Ada and Ben take turns.",
        ...Array.from({ length: turns }, (_, turn) => ledger(turn % 2 === 0 ? "ada" : "ben")),
        ledger("ada").replace("false", "true"),
        "That is all.",
      ]),
      maxTurns: null,
    }),
  GraphFlow: (maxTurns) => {
    const [ada, ben] = [agent("ada", "go on"), agent("ben", "go on")];
    const graph = new DiGraphBuilder()
      .addNode(ada)
      .addNode(ben)
      .addEdge(ada, ben)
      .addEdge(ben, ada, { condition: "go on", activationGroup: "loop" })
      .addNode(agent("end"))
      .addEdge(ben, "end", { condition: "stop" })
      .setEntryPoint(ada);
    return new GraphFlow(graph.getParticipants(), graph.build(), { maxTurns });
  },
};

const agents = (count: number): AssistantAgent[] =>
  Array.from({ length: count }, (_, index) => agent(`agent_${index}`));

/** A graph in which one agent follows the other. */
export function chain(count: number): Team {
  const nodes = agents(count);
  const builder = new DiGraphBuilder();
  for (const node of nodes) builder.addNode(node);
  for (const [index, node] of nodes.slice(1).entries())
    builder.addEdge(`agent_${index}`, node.name);
  return new GraphFlow(builder.getParticipants(), builder.build());
}

/** A graph whose agents all speak at once, between a first and a last one. */
export function wave(count: number): Team {
  const [first, last] = [agent("first"), agent("last")];
  const builder = new DiGraphBuilder().addNode(first).addNode(last);
  for (const node of agents(count)) builder.addNode(node).addEdge(first, node).addEdge(node, last);
  return new GraphFlow(builder.getParticipants(), builder.build());
}

/** Two agents in nested teams, `depth` deep, that speak `turns` times. */
export function nested(depth: number, turns: number): Team {
  const team = new RoundRobinGroupChat(pair(), { name: "innermost", maxTurns: turns });
  return Array.from({ length: depth - 1 }).reduce<Team>(
    (inner, _, level) => new RoundRobinGroupChat([inner], { name: `level_${level}`, maxTurns: 1 }),
    team,
  );
}
