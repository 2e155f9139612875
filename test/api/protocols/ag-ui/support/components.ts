import { AssistantAgent, dumpComponent, ReplayChatCompletionClient } from "troupe";
import { shippedTemplates } from "#service/templates/templates.ts";

const ABILITIES = {
  vision: true,
  functionCalling: true,
  jsonOutput: false,
  structuredOutput: false,
  family: "unknown",
};

const USAGE = { prompt_tokens: 12, completion_tokens: 3 };

type Component = ReturnType<typeof dumpComponent>;

/** A model's answer with calls. */
export function calling(...calls: { id: string; name: string; arguments: string }[]) {
  return {
    finish_reason: "function_calls" as const,
    content: calls,
    usage: USAGE,
    cached: false,
  };
}

export function expression(id: string, text: string) {
  return { id, name: "calculator", arguments: JSON.stringify({ expression: text }) };
}

/** An agent whose model answers with these, one after the other, over again. */
export function answering(
  answers: ConstructorParameters<typeof ReplayChatCompletionClient>[0],
  { chunkDelayMs = 0, ...options }: { chunkDelayMs?: number; maxToolIterations?: number } = {},
): Component {
  const modelClient = new ReplayChatCompletionClient(answers, {
    modelInfo: ABILITIES,
    cycle: true,
    chunkDelayMs,
  });
  return dumpComponent(
    new AssistantAgent({ name: "clerk", modelClient, modelClientStream: true, ...options }),
  );
}

/** The agent with a calculator. @param approval whether a human is asked before each call */
export function withCalculator(agent: Component, approval: "human" | "never"): Component {
  const shipped = shippedTemplates({ configured: false, sandbox: false }).team("tools_assistant");
  const { workbench, tools } = JSON.parse(JSON.stringify(shipped?.component))["config"];
  const [bench] = workbench ?? tools;
  for (const tool of bench.config.tools) {
    if (approval === "human") tool.config.approval = "human";
  }
  return { ...agent, config: { ...(agent["config"] as object), workbench: [bench] } };
}
