import type { JsonObject } from "../../core/json.ts";
import type { OutgoingDependencies } from "../../outgoing/dependencies.ts";
import { anthropicAddress } from "./anthropic/address.ts";
import type { ModelAddress } from "./client/model-address.ts";
import { hostOf } from "./ollama/host.ts";
import { azureAddress, openAIAddress } from "./openai/address.ts";

/**
 * The address to which a component sends its `api_key`; undefined if it is not one of Troupe's model clients, or its
 * config is invalid.
 */
export function keyAddressOf(
  { provider, config }: JsonObject,
  dependencies: OutgoingDependencies,
): ModelAddress | undefined {
  if (typeof provider !== "string") return undefined;
  const { model, base_url, azure_endpoint } = (config ?? {}) as JsonObject;
  switch (provider.split(".").at(-1)) {
    case "OpenAIChatCompletionClient":
      return typeof model === "string"
        ? openAIAddress(
            { model, base_url: typeof base_url === "string" ? base_url : null },
            dependencies,
          )
        : undefined;
    case "OpenAIEmbeddingClient":
      return openAIAddress(
        {
          model: typeof model === "string" ? model : "",
          base_url: typeof base_url === "string" ? base_url : null,
        },
        dependencies,
      );
    case "ChromaDBVectorMemory":
      return openAIAddress({ model: "" }, dependencies);
    case "AzureOpenAIChatCompletionClient":
      return typeof azure_endpoint === "string" ? azureAddress({ azure_endpoint }) : undefined;
    case "AnthropicChatCompletionClient":
      return anthropicAddress(
        { base_url: typeof base_url === "string" ? base_url : null },
        dependencies,
      );
    case "OllamaChatCompletionClient": {
      const { host } = (config ?? {}) as JsonObject;
      const url = hostOf({ host: typeof host === "string" ? host : null }, dependencies);
      return { url, keyName: "OLLAMA_API_KEY" };
    }
    default:
      return undefined;
  }
}
