/** Names of classes that people know by another name than their words. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ["RoundRobinGroupChat", "Round robin"],
  ["SelectorGroupChat", "Selector"],
  ["MagenticOneGroupChat", "Magentic-One"],
  ["GraphFlow", "Graph"],
  ["HttpTool", "HTTP tool"],
  ["McpWorkbench", "MCP server"],
  ["A2AAgent", "A2A agent"],
  ["OpenAIAgent", "OpenAI agent"],
]);

/** A class by the name that people know: `autogen_agentchat.teams.RoundRobinGroupChat` is `Round robin`. */
export function kindOf(provider: string): string {
  const name = provider.split(".").at(-1) ?? provider;
  const existing = NAMES.get(name);
  if (existing !== undefined) return existing;
  const words = name.replaceAll(/([a-z\d])([A-Z])/g, "$1 $2").split(" ");
  return words.map((word, index) => (index === 0 ? word : lower(word))).join(" ");
}

/** The same, shorter for model clients: `autogen_ext.models.openai.OpenAIChatCompletionClient` is `OpenAI`. */
export function shortKindOf(provider: string): string {
  return kindOf(provider.replace(/ChatCompletionClient$/, "")).replace(/open AI/i, "OpenAI");
}

/** Abbreviations keep their capitals. */
function lower(word: string): string {
  return /^[A-Z]{2}/.test(word) ? word : word.toLowerCase();
}

/** The title of a template. */
export function titleOf(template: string): string {
  const words = template.replaceAll(/[_-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
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
