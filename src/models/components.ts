import type { AnyComponentDefinition } from "../core/component/component.ts";
import { anthropicDefinition } from "./anthropic/anthropic-client.ts";
import { ollamaDefinition } from "./ollama/ollama-client.ts";
import { azureDefinition } from "./openai/azure-client.ts";
import type { OutgoingDependencies } from "../outgoing/dependencies.ts";
import { openAIDefinition } from "./openai/openai-client.ts";

/** The model clients of this folder as components: OpenAI, Azure OpenAI, Anthropic and Ollama. */
export function openAIComponents(
  dependencies: OutgoingDependencies = {},
): AnyComponentDefinition[] {
  return [
    openAIDefinition(dependencies),
    azureDefinition(dependencies),
    anthropicDefinition(dependencies),
    ollamaDefinition(dependencies),
  ];
}
