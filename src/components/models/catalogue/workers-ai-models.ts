import { findModel, type KnownModel, type ModelRow } from "./known-model.ts";

/** Models with the older interface of Workers AI. The windows are those of the service, not of the model. */
const NATIVE: readonly ModelRow[] = [
  [/^llama-3\.3-70b-instruct-fp8-fast/, "llama-3.3-70b", "fjsm", 24_000],
  [/^llama-4-scout-17b-16e-instruct/, "llama-4-scout", "vfjsm", 131_000],
  [/^llama-3\.2-11b-vision-instruct/, "unknown", "vjsm", 128_000],
  [/^llama-3\.2-3b-instruct/, "unknown", "m", 80_000],
  [/^llama-3\.2-1b-instruct/, "unknown", "m", 60_000],
  [/^llama-3\.1-8b-instruct-fast/, "unknown", "jsm", 128_000],
  [/^llama-3\.1-8b-instruct-fp8/, "unknown", "m", 32_000],
  [/^llama-3(\.1)?-8b-instruct/, "unknown", "jsm", 7968],
  [/^mistral-small-3\.1-24b-instruct/, "mistral", "vf", 128_000],
  [/^gemma-3-12b-it/, "unknown", "v", 80_000],
  [/^gemma-sea-lion-v4-27b-it/, "unknown", "js", 128_000],
  [/^qwen3-30b-a3b/, "unknown", "fjs", 32_768],
  [/^qwen2\.5-coder-32b-instruct/, "unknown", "js", 32_768],
  [/^qwq-32b/, "unknown", "", 24_000],
  [/^deepseek-r1-distill-qwen-32b/, "r1", "jsm", 80_000],
  [/^hermes-2-pro-mistral-7b/, "unknown", "fjs", 24_000],
  [/^granite-4\.0-h-micro/, "unknown", "f", 131_000],
];

/** Models with OpenAI's interface. */
const LIKE_OPENAI: readonly ModelRow[] = [
  [/^gpt-oss-(20|120)b/, "unknown", "fjsm", 128_000],
  [/^kimi-k2/, "unknown", "vfjsm", 256_000],
  [/^glm-4\.7-flash/, "unknown", "fjsm", 131_072],
  [/^glm-5/, "unknown", "fjsm", 0],
  [/^gemma-4-26b/, "unknown", "vfjs", 256_000],
  [/^nemotron-3-120b/, "unknown", "fjsm", 256_000],
  [/^deepseek-v4/, "unknown", "fjsm", 0],
  [/^qwen3\.8-27b/, "unknown", "fjs", 0],
];

/** Names for those who choose a model. */
export const WORKERS_AI_NAMES: readonly string[] = [
  "@cf/moonshotai/kimi-k2.6",
  "@cf/openai/gpt-oss-120b",
  "@cf/openai/gpt-oss-20b",
  "@cf/zai-org/glm-4.7-flash",
  "@cf/meta/llama-4-scout-17b-16e-instruct",
  "@cf/meta/llama-3.3-70b-instruct-fp8-fast",
  "@cf/mistralai/mistral-small-3.1-24b-instruct",
  "@cf/qwen/qwen3-30b-a3b-fp8",
  "@cf/qwen/qwq-32b",
];

export interface KnownWorkersAIModel extends KnownModel {
  /** True if the model has the older interface of Workers AI. */
  isNative: boolean;
}

/** A model of Workers AI by its name (`@cf/meta/llama-4-scout-17b-16e-instruct`); undefined for one that is not in the catalogue. */
export function knownWorkersAIModel(model: string): KnownWorkersAIModel | undefined {
  const name = (model.split("/").at(-1) ?? model).toLowerCase();
  const native = findModel(name, NATIVE);
  const known = native ?? findModel(name, LIKE_OPENAI);
  return known && { ...known, isNative: native !== undefined };
}
