/** Classes that people know by another name than their words. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ["RoundRobinGroupChat", "Round robin"],
  ["SelectorGroupChat", "Selector"],
  ["MagenticOneGroupChat", "Magentic-One"],
  ["GraphFlow", "Graph"],
  ["McpWorkbench", "MCP server"],
  ["SseMcpToolAdapter", "Tool of an MCP server over SSE"],
  ["StdioMcpToolAdapter", "Tool of an MCP server that is started as a program"],
  ["StreamableHttpMcpToolAdapter", "Tool of an MCP server over HTTP"],
  ["StaticWorkbench", "List of tools"],
  ["StaticStreamWorkbench", "List of tools that stream"],
  ["SocietyOfMindAgent", "Team as an agent"],
  ["MessageFilterAgent", "Agent that hears part of the conversation"],
  ["AgentTool", "Agent as a tool"],
  ["TeamTool", "Team as a tool"],
  ["SearchCollection", "Search in a collection"],
  ["CollectionMemory", "Collection of documents"],
  ["VectorMemory", "Memory of what was learned"],
  ["NotesMemory", "Notes"],
  ["SharedStateMemory", "State of the page"],
  ["TaskBoard", "Board of tasks"],
  ["FullTextMemory", "Texts found by their words"],
  ["ListMemory", "Texts that are always given"],
  ["ChromaDBVectorMemory", "ChromaDB memory"],
  ["AndTerminationCondition", "All of several conditions"],
  ["OrTerminationCondition", "One of several conditions"],
  ["MaxMessageTermination", "A number of messages"],
  ["TextMentionTermination", "A text that is mentioned"],
  ["StopMessageTermination", "A stop message"],
  ["TokenUsageTermination", "A number of tokens"],
  ["HandoffTermination", "A handoff"],
  ["TimeoutTermination", "A time limit"],
  ["ExternalTermination", "A stop from outside"],
  ["SourceMatchTermination", "A message of one of some agents"],
  ["TextMessageTermination", "A text message"],
  ["FunctionCallTermination", "A call of a tool"],
  ["FunctionalTermination", "A function of the server"],
]);

/** The spelling of words that are abbreviations or names. */
const WORDS: ReadonlyMap<string, string> = new Map(
  [
    ..."A2A ACA AI API CSV DB HTML HTTP ID JSON JWT LLM MCP PDF SQL SSE SVG TLS UI URI URL XML".split(
      " ",
    ),
    ..."OpenAI ChromaDB Redis Docker Jupyter Python JavaScript Anthropic Azure Ollama Mem0".split(
      " ",
    ),
  ].map((word) => [word.toLowerCase(), word]),
);

/** A class by the name that people know: `autogen_agentchat.teams.RoundRobinGroupChat` is `Round robin`. */
export function kindOf(provider: string): string {
  const name = provider.split(".").at(-1) ?? provider;
  return (
    NAMES.get(name) ??
    spelled(wordsIn(name).map((word) => (/^[A-Z]{2}/.test(word) ? word : word.toLowerCase())))
  );
}

/** The same, shorter for model clients: `autogen_ext.models.openai.OpenAIChatCompletionClient` is `OpenAI`. */
export function shortKindOf(provider: string): string {
  return kindOf(provider.replace(/ChatCompletionClient$/, ""));
}

/** `HttpTool` has the words `Http` and `Tool`; names of several capitals, such as `OpenAI` and `ChromaDB`, are one. */
function wordsIn(name: string): string[] {
  const whole = [...WORDS.values()].filter((word) => /[a-z][A-Z]|\d/.test(word)).join("|");
  return name.match(new RegExp(`${whole}|[A-Z]+(?![a-z])\\d*|[A-Z]?[a-z\\d]+`, "g")) ?? [name];
}

/** A sentence's beginning: the first word has a capital, abbreviations and names have their own. */
function spelled(words: readonly string[]): string {
  const text = words.map((word) => WORDS.get(word.toLowerCase()) ?? word).join(" ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A name of words as a title: of a template, or of a setting. */
export function titleOf(name: string): string {
  return spelled(name.split(/[\s_-]+/).filter((word) => word !== ""));
}

/** The kinds of teams that can be drawn from nothing, with what they are for. */
export const BLANKS = {
  "autogen_agentchat.teams.RoundRobinGroupChat": "The agents speak in turn.",
  "autogen_agentchat.teams.SelectorGroupChat": "A model selects who speaks next.",
  "autogen_agentchat.teams.Swarm": "The agents hand over to each other.",
  "autogen_agentchat.teams.GraphFlow": "The agents work along a graph, with conditions.",
  "autogen_agentchat.teams.MagenticOneGroupChat":
    "An orchestrator plans, and instructs the agents.",
  "autogen_agentchat.agents.AssistantAgent": "One agent alone.",
} as const;
