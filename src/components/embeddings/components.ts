import type { AnyComponentDefinition } from "../../core/component/component.ts";
import type { ModelDependencies } from "../models/workers-ai/binding.ts";
import { openAIEmbeddingDefinition } from "./openai-embedding-client.ts";
import { workersAIEmbeddingDefinition } from "./workers-ai-embedding-client.ts";

/** The embedding clients as components. */
export function embeddingComponents(
  dependencies: ModelDependencies = {},
): AnyComponentDefinition[] {
  return [openAIEmbeddingDefinition(dependencies), workersAIEmbeddingDefinition(dependencies)];
}
