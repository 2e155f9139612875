import type { ComponentModel, JsonObject } from "troupe";
import type { RuleInput } from "../../support/fake-openai/rule.ts";

/** Where the worker finds the fake services. */
export interface Services {
  /** Base URL of the model's API. */
  model: string;
  /** The address of the MCP server. */
  mcp: string;
}

export function component(provider: string, config: JsonObject): ComponentModel {
  return { provider, config };
}

export function modelClient(
  { model }: Pick<Services, "model">,
  config: JsonObject = {},
): ComponentModel {
  return component("autogen_ext.models.openai.OpenAIChatCompletionClient", {
    model: "fake",
    base_url: model,
    api_key: "sk-chaos",
    model_info: {
      vision: false,
      function_calling: true,
      json_output: true,
      structured_output: true,
      family: "unknown",
    },
    ...config,
  });
}

/** The fake model tells agents apart by their system message: `You are <name>.` */
export function assistant(
  services: Pick<Services, "model">,
  name: string,
  config: JsonObject = {},
): ComponentModel {
  return component("autogen_agentchat.agents.AssistantAgent", {
    name,
    description: `The agent ${name}.`,
    system_message: `You are ${name}.`,
    model_client: modelClient(services),
    reflect_on_tool_use: false,
    tool_call_summary_format: "{result}",
    ...config,
  });
}

/** The keys of an assistant with the tools of the MCP server. */
export function mcpWorkbench({ mcp }: Services): JsonObject {
  const workbench = component("autogen_ext.tools.mcp.McpWorkbench", {
    server_params: { type: "StreamableHttpServerParams", url: mcp },
  });
  return { workbench: [workbench] };
}

/** A tool that the chaos worker registers. */
export function functionTool(name: string, config: JsonObject = {}): ComponentModel {
  return component("autogen_core.tools.FunctionTool", {
    name,
    source_code: "",
    global_imports: [],
    ...config,
  });
}

export function roundRobin(
  participants: readonly ComponentModel[],
  maxTurns: number,
  config: JsonObject = {},
): ComponentModel {
  return team("RoundRobinGroupChat", participants, { max_turns: maxTurns, ...config });
}

/** A team of AutoGen's kinds, by its class name. */
export function team(
  kind: string,
  participants: readonly ComponentModel[],
  config: JsonObject,
): ComponentModel {
  return component(`autogen_agentchat.teams.${kind}`, {
    participants: [...participants],
    ...config,
  });
}

/** A human who is asked for input. */
export function person(name: string, config: JsonObject = {}): ComponentModel {
  return component("autogen_agentchat.agents.UserProxyAgent", {
    name,
    description: "A human.",
    ...config,
  });
}

/**
 * Edges of a graph by the node they begin at; each is a target or has more to it. Without an entry point it begins
 * where no edge leads to.
 */
export function graph(
  participants: readonly ComponentModel[],
  edges: { readonly [node: string]: readonly (string | JsonObject)[] },
  config: JsonObject = {},
  entryPoint: string | null = null,
): ComponentModel {
  const names = participants.map((participant) => participant.config.name as string);
  const nodes = names.map((name) => [
    name,
    {
      name,
      edges: (edges[name] ?? []).map((edge) =>
        typeof edge === "string" ? { target: edge } : edge,
      ),
    },
  ]);
  return team("GraphFlow", participants, {
    graph: { nodes: Object.fromEntries(nodes), default_start_node: entryPoint },
    ...config,
  });
}

/** Runs the code that others wrote. */
export function codeRunner(name: string): ComponentModel {
  return component("autogen_agentchat.agents.CodeExecutorAgent", {
    name,
    code_executor: { provider: "troupe.code_executors.SandboxCodeExecutor", config: {} },
    ...STREAMING,
  });
}

export const STREAMING = { model_client_stream: true };

export function tools(...names: string[]): JsonObject {
  return { tools: names.map((name) => functionTool(name)) };
}

/** A rule by which an agent that has not spoken yet calls these tools. */
export const callsTools = (name: string, ...called: string[]): RuleInput => ({
  name: `${name} calls`,
  match: { system: `You are ${name}.`, role: "user" },
  reply: { tool_calls: called.map((tool) => ({ name: tool, arguments: { what: tool } })) },
});
