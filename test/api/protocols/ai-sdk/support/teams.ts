import {
  type AnyTool,
  AssistantAgent,
  dumpComponent,
  MaxMessageTermination,
  ReplayChatCompletionClient,
  RoundRobinGroupChat,
  UserProxyAgent,
} from "troupe";
import type { CreateTeam } from "troupe/client";
import { calculator } from "#service/templates/tools/calculator.ts";
import { currentTime } from "#service/templates/tools/current-time.ts";

export type Component = NonNullable<CreateTeam["component"]>;
type Reply = ConstructorParameters<typeof ReplayChatCompletionClient>[0][number];

export const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A model's reply: calls of tools, at once, with what it thinks before. */
export function calls(thought: string | undefined, ...made: [name: string, args: object][]): Reply {
  return {
    finish_reason: "function_calls",
    content: made.map(([name, args], index) => ({
      id: `call-${index}`,
      name,
      arguments: JSON.stringify(args),
    })),
    usage: { prompt_tokens: 12, completion_tokens: 3 },
    cached: false,
    ...(thought !== undefined && { thought }),
  };
}

interface AgentOptions {
  tools?: AnyTool[];
  /** Milliseconds before each word. */
  delay?: number;
  reflect?: boolean;
  handoffs?: string[];
}

export const ABILITIES = {
  vision: true,
  functionCalling: true,
  jsonOutput: true,
  structuredOutput: true,
  family: "unknown",
};

/** An agent whose model gives these replies, in pieces. */
export function agent(
  name: string,
  replies: Reply[],
  { tools = [], delay = 0, reflect = false, handoffs = [] }: AgentOptions = {},
): AssistantAgent {
  return new AssistantAgent({
    name,
    modelClient: new ReplayChatCompletionClient(replies, {
      modelInfo: ABILITIES,
      chunkDelayMs: delay,
    }),
    modelClientStream: true,
    tools,
    reflectOnToolUse: reflect,
    handoffs,
  });
}

export const TOOLS: AnyTool[] = [calculator, currentTime];

export const human = (): UserProxyAgent => new UserProxyAgent({ name: "human" });

/** Agents that speak one after the other, once each. */
export function inTurn(...agents: (AssistantAgent | UserProxyAgent)[]): Component {
  const terminationCondition = new MaxMessageTermination(agents.length + 1);
  return dumpComponent(new RoundRobinGroupChat(agents, { terminationCondition }));
}

/** The component with an approval before each call of this tool. */
export function asking(component: Component, tool: string): Component {
  return JSON.parse(JSON.stringify(component), (_key, value: unknown) => {
    const isTool =
      typeof value === "object" && value !== null && "source_code" in value && "name" in value;
    return isTool && value.name === tool ? { ...value, approval: "human" } : value;
  }) as Component;
}
