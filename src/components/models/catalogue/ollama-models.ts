import type { KnownModel } from "./known-model.ts";

/** Models that only write text. All models that Ollama serves have JSON and structured output: it samples by grammar. */
const PLAIN =
  "all-minilm bge-m3 codegemma codellama deepseek-coder deepseek-coder-v2 dolphin-llama3 dolphin-mistral " +
  "dolphin-mixtral gemma gemma2 gemma3n llama2 llama2-uncensored mxbai-embed-large nomic-embed-text orca-mini phi phi3 " +
  "phi3.5 phi4 phi4-reasoning qwen snowflake-arctic-embed starcoder2 tinyllama wizardlm2 yi zephyr";
const WITH_TOOLS =
  "command-a command-r command-r-plus command-r7b cogito deepseek-v3.1 deepseek-v3.2 devstral devstral-2 " +
  "glm-4.6 glm-4.7 gpt-oss granite3.3 granite4 hermes3 kimi-k2 kimi-k2-thinking llama3 llama3.1 llama3.2 llama3.3 " +
  "magistral minimax-m2 mistral mistral-large mistral-nemo mistral-small mixtral nemotron-3-nano phi4-mini qwen2 " +
  "qwen2.5 qwen2.5-coder qwen3 qwen3-coder qwen3-next qwq rnj-1 smollm2";
const WITH_VISION =
  "bakllava gemma3 granite3.2-vision llama3.2-vision llava llava-llama3 llava-phi3 minicpm-v moondream qwen2.5vl";
const WITH_VISION_AND_TOOLS =
  "devstral-small-2 gemma4 kimi-k2.5 llama4 ministral-3 mistral-large-3 mistral-small3.1 mistral-small3.2 qwen3-vl " +
  "qwen3.5";
const WITH_THOUGHTS = "deepseek-r1";

/** The models that write text, for those who choose one. Others are for embeddings. */
export const OLLAMA_NAMES: readonly string[] = [
  PLAIN,
  WITH_TOOLS,
  WITH_VISION,
  WITH_VISION_AND_TOOLS,
  WITH_THOUGHTS,
]
  .flatMap((names) => names.split(" "))
  .filter((name) => !/embed|^bge-|^all-minilm/.test(name))
  .toSorted();

/** Tokens of the context window the model was made for, by model or by model and size. */
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
  "command-a": 262_144,
  "command-r7b": 131_072,
  devstral: 131_072,
  gemma3: 131_072,
  "gemma3:1b": 32_768,
  gemma3n: 32_768,
  gemma4: 131_072,
  "gpt-oss": 131_072,
  granite4: 131_072,
  "kimi-k2.5": 262_144,
  "mistral-small3.1": 131_072,
  "mistral-small3.2": 131_072,
  "ministral-3": 262_144,
  "phi4-mini": 131_072,
  "qwen3-coder": 262_144,
  "qwen3-vl": 262_144,
  "qwen3.5": 262_144,
};

/**
 * A model of Ollama's library by its name, whatever its size (`llama3.2` of `llama3.2:1b`); undefined when the
 * catalogue does not have it.
 */
export function knownOllamaModel(model: string): KnownModel | undefined {
  const name = model.split(":")[0] ?? model;
  const isOneOf = (names: string): boolean => names.split(" ").includes(name);
  const lists = [PLAIN, WITH_TOOLS, WITH_VISION, WITH_VISION_AND_TOOLS, WITH_THOUGHTS];
  if (!lists.some(isOneOf)) return undefined;
  return {
    info: {
      vision: isOneOf(WITH_VISION) || isOneOf(WITH_VISION_AND_TOOLS),
      functionCalling: isOneOf(WITH_TOOLS) || isOneOf(WITH_VISION_AND_TOOLS),
      jsonOutput: true,
      family: isOneOf(WITH_THOUGHTS) ? "r1" : "unknown",
      structuredOutput: true,
    },
    tokenLimit: LIMITS[model] ?? LIMITS[name],
  };
}
