import {
  AssistantAgent,
  type CreateResult,
  dumpComponent,
  MaxMessageTermination,
  ReplayChatCompletionClient,
  RoundRobinGroupChat,
  UserProxyAgent,
} from "troupe";
import type { CreateTeam } from "troupe/client";
import type { TestMcpServer } from "../../../test/components/mcp/support/test-server.ts";
import { speaker as served } from "../../../test/client/support/speaker.ts";
import { shippedTemplates } from "../../../src/service/templates/templates.ts";

type Component = NonNullable<CreateTeam["component"]>;

const ABILITIES = {
  vision: false,
  functionCalling: true,
  jsonOutput: false,
  structuredOutput: false,
  family: "unknown",
};

function dumped(component: Parameters<typeof dumpComponent>[0]): Component {
  return dumpComponent(component);
}

/** A reply that calls a tool. */
function calling(name: string, given: object): CreateResult {
  return {
    finish_reason: "function_calls",
    content: [{ id: "call-1", name, arguments: JSON.stringify(given) }],
    usage: { prompt_tokens: 12, completion_tokens: 3 },
    cached: false,
  };
}

/** An agent that says these texts one after the other, over again. */
export function saying(texts: string[], chunkDelayMs = 0, name = "speaker"): AssistantAgent {
  return new AssistantAgent({
    name,
    modelClient: new ReplayChatCompletionClient(texts, { cycle: true, chunkDelayMs }),
    modelClientStream: true,
  });
}

export function speaker(texts: string[], chunkDelayMs = 0): Component {
  return dumped(saying(texts, chunkDelayMs));
}

/** Two agents that take turns until five messages were said. */
export function discussion(text: string, chunkDelayMs: number): Component {
  const agents = ["first", "second"].map((name) => saying([text], chunkDelayMs, name));
  const terminationCondition = new MaxMessageTermination(5);
  return dumped(new RoundRobinGroupChat(agents, { terminationCondition }));
}

/** Agents of this model server that take turns until five messages were said. */
export function turnTaking(url: string): Component {
  const agent = served(url);
  const names = ["first", "second"];
  const participants = names.map((name) => ({
    ...agent,
    config: { ...(agent["config"] as object), name },
  }));
  const termination_condition = {
    provider: "MaxMessageTermination",
    config: { max_messages: 5 },
  };
  return { provider: "RoundRobinGroupChat", config: { participants, termination_condition } };
}

/** A team that ends with its task: whatever it is given becomes its conversation. */
export function listener(): Component {
  const terminationCondition = new MaxMessageTermination(1);
  const human = new UserProxyAgent({ name: "human" });
  return dumped(new RoundRobinGroupChat([human], { terminationCondition }));
}

/** An agent that calls a tool which it does not have. */
export function delegating(): Component {
  const modelClient = new ReplayChatCompletionClient(
    [calling("locate", { precise: true }), "You are there."],
    { modelInfo: ABILITIES },
  );
  return dumped(new AssistantAgent({ name: "guide", modelClient }));
}

/** An agent that wants to calculate, and asks first. */
export function careful(given: object = { expression: "6 * 7" }): Component {
  const modelClient = new ReplayChatCompletionClient([calling("calculator", given)], {
    modelInfo: ABILITIES,
    cycle: true,
  });
  const agent = dumped(new AssistantAgent({ name: "clerk", modelClient }));
  const shipped = shippedTemplates({ configured: false, sandbox: false }).team("tools_assistant");
  const { workbench, tools } = JSON.parse(JSON.stringify(shipped?.component))["config"];
  const [bench] = workbench ?? tools;
  for (const tool of bench.config.tools) tool.config.approval = "human";
  return { ...agent, config: { ...(agent["config"] as object), workbench: [bench] } };
}

/** An agent whose MCP tool asks the human to fill in a form. It says what the tool was answered. */
export function filling(server: TestMcpServer["params"], form: object): Component {
  const modelClient = new ReplayChatCompletionClient([calling("confirm", { form })], {
    modelInfo: ABILITIES,
    cycle: true,
  });
  const agent = dumped(new AssistantAgent({ name: "clerk", modelClient }));
  const elicitor = { provider: "autogen_ext.tools.mcp.StdioElicitor", config: {} };
  const host = { provider: "autogen_ext.tools.mcp.McpSessionHost", config: { elicitor } };
  const workbench = {
    provider: "autogen_ext.tools.mcp.McpWorkbench",
    config: { server_params: server, host },
  };
  const config = { tool_call_summary_format: "{result}", workbench: [workbench] };
  return { ...agent, config: { ...(agent["config"] as object), ...config } };
}
