import type { JsonObject } from "../core/json.ts";
import { knownModel } from "../components/models/catalogue/hosted-models.ts";
import { knownOllamaModel } from "../components/models/catalogue/ollama-models.ts";
import { knownWorkersAIModel } from "../components/models/catalogue/workers-ai-models.ts";
import type { OfferedModel } from "../contract/team.ts";
import type { ModelPrices } from "../contract/usage/model-prices.ts";
import type { KnownComponent } from "../core/registry/registry.ts";

/** Any address of Azure: all of them have the same setting for their key. */
const AN_AZURE = "https://resource.openai.azure.com";

interface Offer {
  env: object;
  prices: ModelPrices;
  /** The setting with the key of a model client; undefined for one without a key. */
  keyName: (component: JsonObject) => string | undefined;
}

/** The models of the catalogue that a class of model clients names, with what this server knows about them. */
export function offeredModels(
  { provider, component_type, config }: KnownComponent,
  { env, prices, keyName }: Offer,
): OfferedModel[] {
  if (component_type !== "model") return [];
  const needsNoKey = /\.(ollama|workers_ai)\.|WorkersAI/.test(provider);
  return namesIn(config).map((name) => {
    const price = prices.of(name);
    const key = keyName({ provider, config: { model: name, azure_endpoint: AN_AZURE } });
    return {
      name,
      context_window: windowOf(provider, name) ?? null,
      input_price: price?.input ?? null,
      output_price: price?.output ?? null,
      has_key: needsNoKey || Boolean(key && (env as { [name: string]: unknown })[key]),
    };
  });
}

function windowOf(provider: string, name: string): number | undefined {
  if (provider.includes(".ollama.")) return knownOllamaModel(name)?.tokenLimit;
  return (knownWorkersAIModel(name) ?? knownModel(name))?.tokenLimit;
}

/** The names that the schema of a config has as examples of its model. */
function namesIn(config: KnownComponent["config"]): readonly string[] {
  const { properties } = config as { properties?: { model?: { examples?: readonly string[] } } };
  return properties?.model?.examples ?? [];
}
