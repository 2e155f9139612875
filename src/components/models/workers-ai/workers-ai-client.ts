import type { ComponentDefinition } from "../../../core/component/component.ts";
import { optionsOf, parseOptions } from "../../../core/options/option-names.ts";
import { unknownModelNotes } from "../catalogue/known-model.ts";
import { knownWorkersAIModel } from "../catalogue/workers-ai-models.ts";
import { modelInfoFrom } from "../client/client-config.ts";
import { HttpModelClient, ModelAbilities } from "../client/http-model-client.ts";
import type { Maker } from "../openai/chat-completions/maker.ts";
import { bindingOf, type ModelDependencies } from "./binding.ts";
import { WorkersAIChatApi } from "./chat-api.ts";
import {
  createArgsFrom,
  type WorkersAIChatCompletionClientOptions,
  type WorkersAIConfig,
  workersAIConfigSchema,
} from "./config.ts";
import { workersAIEndpoint } from "./endpoint.ts";
import { inputsFrom } from "./inputs.ts";

/** Its documentation requires no data to be sent back. */
const MAKER: Maker = { name: "workers-ai", ofOneModel: true, withTexts: false, calls: "bare" };

const definition = {
  provider: "troupe.models.WorkersAIChatCompletionClient",
  componentType: "model",
  role: "model",
  version: 1,
} as const;

/**
 * Models that Cloudflare runs, by the Worker's binding `AI`: no key is needed. Makes one attempt per call.
 *
 * @example
 * const client = new WorkersAIChatCompletionClient({ model: "@cf/openai/gpt-oss-120b" }, { ai: env.AI });
 */
export class WorkersAIChatCompletionClient extends HttpModelClient {
  /** @internal */
  static readonly component = workersAIDefinition;
  /** @throws ValueError for invalid options, and without the binding */
  constructor(options: WorkersAIChatCompletionClientOptions, dependencies: ModelDependencies = {}) {
    const config = parseOptions(workersAIConfigSchema, options, "WorkersAIChatCompletionClient");
    const { model } = config;
    const catalogued = knownWorkersAIModel(model);
    const modelInfo = modelInfoFrom(config, catalogued);
    if (config.response_format?.type === "json_object")
      new ModelAbilities(model, modelInfo).checkOutput(true);
    const isNative = catalogued?.isNative ?? false;
    super({
      definition,
      config,
      model,
      provider: "cloudflare.workers_ai",
      modelInfo,
      tokenLimit: catalogued?.tokenLimit,
      timeout: config.timeout,
      api: new WorkersAIChatApi(
        {
          model,
          modelInfo,
          createArgs: createArgsFrom(config, isNative),
          thoughtTags: config.thought_tags ?? "thought",
          includeNames: false,
          prefixNames: config.add_name_prefixes ?? false,
          maker: MAKER,
          keyed: false,
          isNative,
        },
        workersAIEndpoint(bindingOf(dependencies), model, (body) => inputsFrom(body, isNative)),
      ),
    });
  }
}

function workersAIDefinition(
  dependencies: ModelDependencies,
): ComponentDefinition<WorkersAIConfig, WorkersAIChatCompletionClient> {
  return {
    ...definition,
    configSchema: workersAIConfigSchema,
    fromConfig: (config) =>
      new WorkersAIChatCompletionClient(optionsOf(workersAIConfigSchema, config), dependencies),
    notes: (config) => unknownModelNotes(config, knownWorkersAIModel(config.model)),
  };
}
