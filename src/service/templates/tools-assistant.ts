import { AssistantAgent } from "../../core/agents/assistant/assistant-agent.ts";
import type { Template } from "../../core/component/template.ts";
import { knownModel } from "../../components/models/catalogue/hosted-models.ts";
import { OpenAIChatCompletionClient } from "../../components/models/openai/openai-client.ts";
import { lazyTemplate } from "./lazy-template.ts";
import { calculator } from "./tools/calculator.ts";
import { currentTime } from "./tools/current-time.ts";

export interface ToolsAssistantOptions {
  /** Default `gpt-4o-mini`. */
  model?: string | undefined;
  /** True if the model's API key is set. */
  configured: boolean;
}

/** A single agent with two tools and a real model. */
export function toolsAssistant({ model, configured }: ToolsAssistantOptions): Template {
  const needs = configured
    ? "Uses the model that this server is configured for."
    : "Needs a model, and this server has no key for one: set OPENAI_API_KEY, and for another server OPENAI_BASE_URL and OPENAI_MODEL.";
  return lazyTemplate(
    {
      name: "tools_assistant",
      description: `One assistant that calculates and knows the time in any zone. It sees images and reads PDF if its model is known to support them. ${needs}`,
      task: "What is the square root of 1764, and what time is it in Lisbon?",
    },
    () => {
      const name = model ?? "gpt-4o-mini";
      const catalogued = knownModel(name)?.info;
      return new AssistantAgent({
        name: "assistant",
        description: "Answers questions with the help of tools.",
        systemMessage:
          "You are a helpful assistant. Use the calculator for every calculation, and current_time for the date and the time. Answer briefly.",
        modelClient: new OpenAIChatCompletionClient({
          model: name,
          apiKey: "env:OPENAI_API_KEY",
          // Stated here, because models of another server are not known by name.
          modelInfo: {
            vision: catalogued?.vision ?? false,
            ...(catalogued?.pdf && { pdf: true }),
            functionCalling: true,
            jsonOutput: true,
            structuredOutput: true,
            family: "unknown",
          },
        }),
        tools: [calculator, currentTime],
        modelClientStream: true,
        reflectOnToolUse: true,
        maxToolIterations: 5,
      });
    },
  );
}
