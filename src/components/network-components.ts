import type { AnyComponentDefinition } from "../core/component/component.ts";
import { componentsFor } from "../core/registry/component-classes.ts";
import type { OutgoingDependencies } from "../outgoing/dependencies.ts";
import * as a2a from "./a2a/classes.ts";
import * as embeddings from "./embeddings/classes.ts";
import * as httpTool from "./http-tool/classes.ts";
import * as mcp from "./mcp/classes.ts";
import type { McpDependencies } from "./mcp/connection/dependencies.ts";
import * as memories from "./memories/classes.ts";
import * as models from "./models/classes.ts";
import type { ModelDependencies } from "./models/workers-ai/binding.ts";

/** The component definition of `A2AAgent`, with the fetch, settings and secrets of its host. */
export function a2aComponents(dependencies: OutgoingDependencies = {}): AnyComponentDefinition[] {
  return componentsFor(a2a, dependencies);
}

/** The embedding clients as components. */
export function embeddingComponents(
  dependencies: ModelDependencies = {},
): AnyComponentDefinition[] {
  return componentsFor(embeddings, dependencies);
}

/** The component definition of `HttpTool`, with the fetch, settings and secrets of its host. */
export function httpToolComponents(
  dependencies: OutgoingDependencies = {},
): AnyComponentDefinition[] {
  return componentsFor(httpTool, dependencies);
}

/** The components of the MCP client, with the fetch, settings, secrets and sandbox of their host. */
export function mcpComponents(dependencies: McpDependencies = {}): AnyComponentDefinition[] {
  return componentsFor(mcp, dependencies);
}

/** The memories of AutoGen's extensions as components. */
export function memoryComponents(
  dependencies: OutgoingDependencies = {},
): AnyComponentDefinition[] {
  return componentsFor(memories, dependencies);
}

/** The model clients of this library as components: OpenAI, Azure OpenAI, Anthropic, Ollama and Workers AI, and OpenAI's agent. */
export function openAIComponents(dependencies: ModelDependencies = {}): AnyComponentDefinition[] {
  return componentsFor(models, dependencies);
}
