import { isClaude } from "../../../core/models/model-family.ts";
import { findModel, type KnownModel, type ModelRow } from "./known-model.ts";

/**
 * Models by name, as their providers describe them on 2026-11-24; docs/models.md says how to renew the list. The first
 * match counts. The families are AutoGen's (`ModelFamily`) where it has one; models that AutoGen knows have the
 * abilities it gives them. If a provider publishes different windows for one series, the smallest is listed: a context
 * that is truncated too early still works.
 */
const ROWS: readonly ModelRow[] = [
  // OpenAI
  [/^gpt-5(\.\d+)?-chat/, "gpt-5", "vfjsmp", 128_000],
  [/^gpt-5(\.\d+)?-(pro|codex|cyber)/, "gpt-5", "vfjsmrp", 400_000, "always"],
  [/^gpt-5\.4-(mini|nano)/, "gpt-5", "vfjsmqp", 400_000, "with_effort"],
  [/^gpt-5\.4/, "gpt-5", "vfjsmqp", 1_050_000, "with_effort"],
  [/^gpt-5\.([5-9]|\d\d)/, "gpt-5", "vfjsmrp", 1_050_000, "unless_none"],
  [/^gpt-5\.[1-3]/, "gpt-5", "vfjsmqp", 400_000],
  [/^gpt-5/, "gpt-5", "vfjsmrp", 400_000],
  [
    /^gpt-[6-9](\.\d+)?-(pro|codex|cyber|rosalind|astra)/,
    "unknown",
    "vfjsmrp",
    1_050_000,
    "always",
  ],
  [/^gpt-[6-9](\.\d+)?(-|$)/, "unknown", "vfjsmrp", 1_050_000, "unless_none"],
  [/^gpt-(daybreak|rosalind)/, "unknown", "vfjsmrp", 0, "always"],
  [/^(computer-use-preview|codex-mini)/, "unknown", "vfjsmr", 200_000, "always"],
  [/^gpt-audio/, "unknown", "fm", 128_000],
  [/^gpt-4\.1/, "gpt-41", "vfjsmp", 1_047_576],
  [/^gpt-4\.5/, "gpt-45", "vfjsmp", 128_000],
  [/^gpt-4o(-mini)?-search/, "gpt-4o", "fjsm", 0],
  [/^gpt-4o(-mini)?-audio/, "gpt-4o", "fm", 128_000],
  [/^gpt-4o-2024-05-13/, "gpt-4o", "vfjmp", 128_000],
  [/^(chat)?gpt-4o/, "gpt-4o", "vfjsmp", 128_000],
  [/^o4-.*deep-research/, "o4", "vfjsmrp", 200_000, "always"],
  [/^o4-/, "o4", "vfjsmrp", 200_000],
  [/^o3-mini/, "o3", "fjsmr", 200_000],
  [/^o3-(pro|deep-research)/, "o3", "vfjsmrp", 200_000, "always"],
  [/^o3/, "o3", "vfjsmrp", 200_000],
  [/^o1-preview/, "o1", "fsmr", 128_000],
  [/^o1-mini/, "o1", "mr", 128_000],
  [/^o1-pro/, "o1", "fsmr", 200_000, "always"],
  [/^o1/, "o1", "fsmr", 200_000],
  [/^gpt-4-(1106-)?vision/, "gpt-4", "vm", 128_000],
  [/^gpt-4-(turbo-preview|0125|1106)/, "gpt-4", "fjm", 128_000],
  [/^gpt-4-turbo/, "gpt-4", "vfjm", 128_000],
  [/^gpt-4-32k/, "gpt-4", "fjm", 32_768],
  [/^gpt-4(-\d+)?$/, "gpt-4", "fjm", 8192],
  [/^gpt-3\.?5-turbo-(instruct|0613)/, "gpt-35", "fjm", 4096],
  [/^gpt-3\.?5/, "gpt-35", "fjm", 16_385],
  [/^gpt-oss/, "unknown", "fjsmr", 131_072],
  // Google
  [/^gemini-1\.5-pro/, "gemini-1.5-pro", "vfjsp", 2_097_152],
  [/^gemini-1\.5-flash/, "gemini-1.5-flash", "vfjsp", 1_048_576],
  [/^gemini-2\.0-flash/, "gemini-2.0-flash", "vfjsp", 1_048_576],
  [/^gemini-2\.5-pro-preview-03-25/, "gemini-2.5-pro", "vfjsp", 2_097_152],
  [/^gemini-2\.5-pro/, "gemini-2.5-pro", "vfjsp", 1_048_576],
  [/^gemini-2\.5-flash/, "gemini-2.5-flash", "vfjsp", 1_048_576],
  [/^gemini-([3-9]|(pro|flash|flash-lite)-latest)/, "gemini-3", "vfjsp", 1_048_576],
  [/^gemma-?3n?-(1b|.*270m)/, "unknown", "j", 32_768],
  [/^gemma-?3n?/, "unknown", "vj", 131_072],
  // Anthropic: its OpenAI-compatible endpoint ignores `response_format`, so none has JSON output
  [/^claude-3-haiku/, "claude-3-haiku", "vfm", 50_000],
  [/^claude-3-sonnet/, "claude-3-sonnet", "vfm", 200_000],
  [/^claude-3-opus/, "claude-3-opus", "vfm", 200_000],
  [/^claude-3[-.]5-haiku/, "claude-3-5-haiku", "vfm", 200_000],
  [/^claude-3[-.]5-sonnet/, "claude-3-5-sonnet", "vfm", 200_000],
  [/^claude-3[-.]7-sonnet/, "claude-3-7-sonnet", "vfm", 200_000],
  [/^claude-sonnet-4-[6-9]/, "claude-4-sonnet", "vfm", 1_000_000],
  [/^claude-(4-sonnet|sonnet-4)/, "claude-4-sonnet", "vfm", 200_000],
  [/^claude-opus-4-[6-9]/, "claude-4-opus", "vfm", 1_000_000],
  [/^claude-(4-opus|opus-4)/, "claude-4-opus", "vfm", 200_000],
  [/^claude-haiku-4/, "claude-4-haiku", "vfm", 200_000],
  [/^claude-(opus|sonnet|fable|mythos)-/, "claude-5", "vfm", 1_000_000],
  [/^claude-haiku-/, "claude-5", "vfm", 200_000],
  // Meta
  [/^(meta-)?llama-3\.3-8b/, "llama-3.3-8b", "fjm", 128_000],
  [/^(meta-)?llama-3\.3-70b/, "llama-3.3-70b", "fjm", 128_000],
  [/^(meta-)?llama-4-scout/, "llama-4-scout", "vfjsm", 128_000],
  [/^(meta-)?llama-4-maverick/, "llama-4-maverick", "vfjsm", 128_000],
  [/^(meta-)?llama-3\.2-.*vision/, "unknown", "vfjm", 128_000],
  [/^(meta-)?llama-3\.[12]/, "unknown", "fjm", 128_000],
  // xAI
  [/^grok-[23](?!.*vision)/, "unknown", "fjsm", 131_072],
  [/^grok-(code|build)/, "unknown", "fjsm", 256_000],
  [/^grok-4\.(3|20)/, "unknown", "vfjsm", 1_000_000],
  [/^grok-4\.5/, "unknown", "vfjsm", 500_000],
  [/^grok-([4-9]|latest)/, "unknown", "vfjsm", 256_000],
  // DeepSeek
  [/^deepseek-r1/, "r1", "m", 65_536],
  [/^deepseek-reasoner/, "r1", "fjm", 128_000],
  [/^deepseek-v4.*vision/, "unknown", "vfjm", 1_000_000],
  [/^deepseek-v4/, "unknown", "fjm", 1_000_000],
  [/^deepseek-(chat|v3)/, "unknown", "fjm", 128_000],
  // Alibaba
  [/^(qwen.*-?(vl|omni)|qvq)/, "unknown", "vfj", 0],
  [/^qwen3-max/, "unknown", "fj", 262_144],
  [/^qwen-?(3|plus|flash|turbo|max|coder)/, "unknown", "fj", 131_072],
  [/^(qwen-?2\.5|qwq)/, "unknown", "fj", 32_768],
  // Mistral
  [/^open-codestral-mamba/, "open-codestral-mamba", "fj", 256_000],
  [/^codestral/, "codestral", "fjs", 256_000],
  [/^pixtral/, "pixtral", "vfjs", 128_000],
  [/^ministral/, "ministral", "fjs", 128_000],
  [/^mistral-large-24/, "mistral", "fjs", 128_000],
  [/^mistral-(large-(3|25)|medium-3[.-]5)/, "mistral", "vfjs", 256_000],
  [/^(mistral-(large|medium|small)|magistral)/, "mistral", "vfjs", 128_000],
  [/^(devstral|open-mistral-nemo)/, "mistral", "fjs", 128_000],
  [/^(open-)?mixtral/, "mistral", "fj", 32_768],
  // Moonshot, Zhipu, MiniMax, Cohere
  [/^kimi-(k2\.[5-9]|k[3-9])/, "unknown", "vfjm", 262_144],
  [/^kimi-k2/, "unknown", "fjm", 131_072],
  [/^glm-[45](\.\d+)?v/, "unknown", "vfjm", 65_536],
  [/^glm-5\.[2-9]/, "unknown", "fjm", 1_000_000],
  [/^glm-(4\.[6-9]|5)/, "unknown", "fjm", 200_000],
  [/^glm-[4-9]/, "unknown", "fjm", 128_000],
  [/^minimax-m2/, "unknown", "fjm", 204_800],
  [/^minimax-m/, "unknown", "fjm", 0],
  [/^command-(a|r7b|r)/, "unknown", "fjs", 128_000],
];

/** Names for those who choose a model: of OpenAI, and of others whose API is OpenAI's. */
export const OPENAI_NAMES: readonly string[] = [
  "gpt-6.1-sol",
  "gpt-6.1-terra",
  "gpt-6-astra",
  "gpt-6-luna",
  "gpt-5.6-sol",
  "gpt-5.6-terra",
  "gpt-5.6-luna",
  "gpt-5.5",
  "gpt-5.4",
  "gpt-5.4-mini",
  "gpt-5.4-nano",
  "gpt-5-mini",
  "gpt-5-nano",
  "gpt-4.1",
  "gpt-4.1-mini",
  "gpt-4o",
  "gpt-4o-mini",
  "gemini-3.1-pro-preview",
  "gemini-2.5-pro",
  "gemini-2.5-flash",
  "grok-4.5",
  "deepseek-v4-pro",
  "deepseek-chat",
  "mistral-large-latest",
  "mistral-small-latest",
  "openai/gpt-oss-120b",
  "moonshotai/kimi-k2.6",
];

/** The same of Anthropic. */
export const CLAUDE_NAMES: readonly string[] = [
  "claude-opus-5-5",
  "claude-opus-5",
  "claude-sonnet-5-5",
  "claude-sonnet-5",
  "claude-haiku-5-5",
  "claude-fable-5-2",
  "claude-opus-4-8",
  "claude-sonnet-4-6",
  "claude-haiku-4-5",
];

/**
 * A hosted model by its name, with or without its maker (`openai/gpt-5`) and a variant (`:free`), as gateways write it, or
 * fine-tuned (`ft:gpt-4o-mini:...`); undefined when the catalogue does not have it.
 */
export function knownModel(model: string): KnownModel | undefined {
  const [name = ""] = (model.split("/").at(-1) ?? model)
    .replace(/^ft:/, "")
    .toLowerCase()
    .split(":", 1);
  return findModel(name, ROWS);
}

/** A Claude model by its name, as Anthropic's own API serves it: an answer can be JSON there, and a message have a PDF. */
export function knownClaudeModel(model: string): KnownModel | undefined {
  const catalogued = knownModel(model);
  if (catalogued === undefined || !isClaude(catalogued.info.family)) return undefined;
  // https://platform.claude.com/docs/en/build-with-claude/pdf-support: all that are active, and so not Claude 3.
  const pdf = !/^claude-3-(haiku|sonnet|opus)$/.test(catalogued.info.family);
  return {
    ...catalogued,
    info: { ...catalogued.info, jsonOutput: true, structuredOutput: true, pdf },
  };
}
