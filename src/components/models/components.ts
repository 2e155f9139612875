import type { AnyComponentDefinition } from "../../core/component/component.ts";
import { anthropicDefinition } from "./anthropic/anthropic-client.ts";
import { ollamaDefinition } from "./ollama/ollama-client.ts";
import { openAIAgentDefinition } from "./openai/agent/openai-agent.ts";
import { azureDefinition } from "./openai/azure-client.ts";
import type { ModelDependencies } from "./workers-ai/binding.ts";
import { workersAIDefinition } from "./workers-ai/workers-ai-client.ts";
import { openAIDefinition } from "./openai/openai-client.ts";

/** The model clients of this folder as components: OpenAI, Azure OpenAI, Anthropic, Ollama and Workers AI, and OpenAI's agent. */
export function openAIComponents(dependencies: ModelDependencies = {}): AnyComponentDefinition[] {
  return [
    openAIDefinition(dependencies),
    azureDefinition(dependencies),
    anthropicDefinition(dependencies),
    ollamaDefinition(dependencies),
    workersAIDefinition(dependencies),
    openAIAgentDefinition(dependencies),
  ];
}
