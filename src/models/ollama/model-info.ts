import type { ModelInfo } from "../../core/models/model-info.ts";
import { unknownModel } from "../model-info.ts";

const PLAIN =
  "all-minilm bge-m3 codegemma codellama deepseek-coder deepseek-coder-v2 dolphin-llama3 dolphin-mistral " +
  "dolphin-mixtral gemma gemma2 llama2 llama2-uncensored mxbai-embed-large nomic-embed-text orca-mini phi phi3 " +
  "phi3.5 phi4 qwen snowflake-arctic-embed starcoder2 tinyllama wizardlm2 yi zephyr";
const WITH_TOOLS =
  "command-r llama3 llama3.1 llama3.2 llama3.3 mistral mistral-nemo mixtral qwen2 qwen2.5 qwen2.5-coder qwen3";
const WITH_VISION = "llama3.2-vision llava llava-llama3 qwen2.5vl";
const WITH_THOUGHTS = "deepseek-r1";

/** Tokens of the context window, by model or by model and size. */
const LIMITS: { readonly [model: string]: number } = {
  "all-minilm": 256,
  "bge-m3": 8192,
  codegemma: 8192,
  codellama: 16_384,
  "codellama:70b": 2048,
  "command-r": 131_072,
  "deepseek-coder": 16_384,
  "deepseek-coder-v2": 131_072,
  "deepseek-r1": 131_072,
  "dolphin-llama3": 8192,
  "dolphin-llama3:8b-256k": 256_000,
  "dolphin-mistral": 32_768,
  "dolphin-mixtral:8x22b": 65_536,
  gemma: 8192,
  gemma2: 8192,
  llama2: 4096,
  "llama2-uncensored": 2048,
  llama3: 8192,
  "llama3.1": 131_072,
  "llama3.2": 131_072,
  "llama3.2-vision": 131_072,
  "llama3.3": 131_072,
  llava: 32_768,
  "llava:13b": 4096,
  "llava:34b": 4096,
  "llava-llama3": 8192,
  mistral: 32_768,
  "mistral-nemo": 131_072,
  mixtral: 32_768,
  "mixtral:8x22b": 65_536,
  "mxbai-embed-large": 512,
  "nomic-embed-text": 8192,
  "orca-mini": 2048,
  "orca-mini:7b": 4096,
  "orca-mini:13b": 4096,
  "orca-mini:70b": 4096,
  phi: 2048,
  phi3: 131_072,
  "phi3.5": 131_072,
  phi4: 16_384,
  qwen: 32_768,
  qwen2: 32_768,
  "qwen2.5": 131_072,
  "qwen2.5-coder": 131_072,
  "qwen2.5-coder:0.5b": 32_768,
  "qwen2.5-coder:1.5b": 32_768,
  "qwen2.5-coder:3b": 32_768,
  "qwen2.5vl": 128_000,
  qwen3: 40_960,
  "snowflake-arctic-embed": 512,
  starcoder2: 16_384,
  tinyllama: 2048,
  wizardlm2: 32_768,
  "wizardlm2:8x22b": 65_536,
  yi: 4096,
  zephyr: 32_768,
  "zephyr:141b": 65_536,
};

/** The model without its size: `llama3.2` of `llama3.2:1b`. */
const withoutSize = (model: string): string => model.split(":")[0] ?? model;

/**
 * What a model that Ollama serves can do.
 * @throws ValueError for names that are not known: the config must say it then
 */
export function ollamaModelInfo(model: string): ModelInfo {
  const name = withoutSize(model);
  const isOneOf = (names: string): boolean => names.split(" ").includes(name);
  if (![PLAIN, WITH_TOOLS, WITH_VISION, WITH_THOUGHTS].some(isOneOf)) throw unknownModel(model);
  return {
    vision: isOneOf(WITH_VISION),
    function_calling: isOneOf(WITH_TOOLS),
    json_output: true,
    family: isOneOf(WITH_THOUGHTS) ? "r1" : "unknown",
    structured_output: true,
  };
}

/** Tokens of a model's context window; undefined when not known. */
export function ollamaTokenLimit(model: string): number | undefined {
  return LIMITS[model] ?? LIMITS[withoutSize(model)];
}
