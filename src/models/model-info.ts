import { ValueError } from "../core/errors.ts";
import type { ModelInfo } from "../core/models/model-info.ts";

/** Names that point to a dated version, as in AutoGen. */
const POINTERS: { readonly [model: string]: string } = {
  "o4-mini": "o4-mini-2025-04-16",
  o3: "o3-2025-04-16",
  "o3-mini": "o3-mini-2025-01-31",
  o1: "o1-2024-12-17",
  "o1-preview": "o1-preview-2024-09-12",
  "o1-mini": "o1-mini-2024-09-12",
  "gpt-5": "gpt-5-2025-08-07",
  "gpt-5-mini": "gpt-5-mini-2025-08-07",
  "gpt-5-nano": "gpt-5-nano-2025-08-07",
  "gpt-4.1": "gpt-4.1-2025-04-14",
  "gpt-4.1-mini": "gpt-4.1-mini-2025-04-14",
  "gpt-4.1-nano": "gpt-4.1-nano-2025-04-14",
  "gpt-4.5-preview": "gpt-4.5-preview-2025-02-27",
  "gpt-4o": "gpt-4o-2024-08-06",
  "gpt-4o-mini": "gpt-4o-mini-2024-07-18",
  "gpt-4-turbo": "gpt-4-turbo-2024-04-09",
  "gpt-4-turbo-preview": "gpt-4-0125-preview",
  "gpt-4": "gpt-4-0613",
  "gpt-4-32k": "gpt-4-32k-0613",
  "gpt-3.5-turbo": "gpt-3.5-turbo-0125",
  "gpt-3.5-turbo-16k": "gpt-3.5-turbo-16k-0613",
  "claude-3-haiku": "claude-3-haiku-20240307",
  "claude-3-sonnet": "claude-3-sonnet-20240229",
  "claude-3-opus": "claude-3-opus-20240229",
  "claude-3-5-haiku": "claude-3-5-haiku-20241022",
  "claude-3-5-sonnet": "claude-3-5-sonnet-20241022",
  "claude-3-7-sonnet": "claude-3-7-sonnet-20250219",
  "claude-4-sonnet": "claude-sonnet-4-20250514",
  "claude-4-opus": "claude-opus-4-20250514",
  "llama-3.3-8b": "Llama-3.3-8B-Instruct",
  "llama-3.3-70b": "Llama-3.3-70B-Instruct",
  "llama-4-scout": "Llama-4-Scout-17B-16E-Instruct-FP8",
  "llama-4-maverick": "Llama-4-Maverick-17B-128E-Instruct-FP8",
};

/** Can do: `v`ision, `f`unction calling, `j`son output, `s`tructured output, `m`ultiple system messages. */
type Abilities = string;

/** Model, family, abilities, tokens of the context window (0: not known). */
type Row = readonly [model: string, family: string, abilities: Abilities, limit: number];

const ROWS: readonly Row[] = [
  ["gpt-4o-mini-search-preview-2025-03-11", "gpt-4o", "fjsm", 0],
  ["gpt-4o-search-preview-2025-03-11", "gpt-4o", "fjsm", 0],
  ["o4-mini-2025-04-16", "o4", "vfjsm", 200_000],
  ["o3-2025-04-16", "o3", "vfjsm", 200_000],
  ["o3-mini-2025-01-31", "o3", "fjsm", 200_000],
  ["o1-2024-12-17", "o1", "fsm", 200_000],
  ["o1-preview-2024-09-12", "o1", "fsm", 128_000],
  ["o1-mini-2024-09-12", "o1", "m", 128_000],
  ["gpt-5-2025-08-07", "gpt-5", "vfjsm", 400_000],
  ["gpt-5-mini-2025-08-07", "gpt-5", "vfjsm", 400_000],
  ["gpt-5-nano-2025-08-07", "gpt-5", "vfjsm", 400_000],
  ["gpt-4.1-2025-04-14", "gpt-41", "vfjsm", 1_047_576],
  ["gpt-4.1-mini-2025-04-14", "gpt-41", "vfjsm", 1_047_576],
  ["gpt-4.1-nano-2025-04-14", "gpt-41", "vfjsm", 1_047_576],
  ["gpt-4.5-preview-2025-02-27", "gpt-45", "vfjsm", 128_000],
  ["gpt-4o-2024-11-20", "gpt-4o", "vfjsm", 128_000],
  ["gpt-4o-2024-08-06", "gpt-4o", "vfjsm", 128_000],
  ["gpt-4o-2024-05-13", "gpt-4o", "vfjm", 128_000],
  ["gpt-4o-mini-2024-07-18", "gpt-4o", "vfjsm", 128_000],
  ["gpt-4-turbo-2024-04-09", "gpt-4", "vfjm", 128_000],
  ["gpt-4-0125-preview", "gpt-4", "fjm", 128_000],
  ["gpt-4-1106-preview", "gpt-4", "fjm", 128_000],
  ["gpt-4-1106-vision-preview", "gpt-4", "vm", 128_000],
  ["gpt-4-0613", "gpt-4", "fjm", 8192],
  ["gpt-4-32k-0613", "gpt-4", "fjm", 32_768],
  ["gpt-3.5-turbo-0125", "gpt-35", "fjm", 16_385],
  ["gpt-3.5-turbo-1106", "gpt-35", "fjm", 16_385],
  ["gpt-3.5-turbo-instruct", "gpt-35", "fjm", 4096],
  ["gpt-3.5-turbo-0613", "gpt-35", "fjm", 4096],
  ["gpt-3.5-turbo-16k-0613", "gpt-35", "fjm", 16_385],
  ["gemini-1.5-flash", "gemini-1.5-flash", "vfjs", 1_048_576],
  ["gemini-1.5-flash-8b", "gemini-1.5-flash", "vfjs", 1_048_576],
  ["gemini-1.5-pro", "gemini-1.5-pro", "vfjs", 2_097_152],
  ["gemini-2.0-flash", "gemini-2.0-flash", "vfjs", 1_048_576],
  ["gemini-2.0-flash-lite-preview-02-05", "gemini-2.0-flash", "vfjs", 1_048_576],
  ["gemini-2.5-pro-preview-03-25", "gemini-2.5-pro", "vfjs", 2_097_152],
  ["gemini-2.5-flash", "gemini-2.5-flash", "vfjs", 1_048_576],
  ["claude-3-haiku-20240307", "claude-3-haiku", "vfm", 50_000],
  ["claude-3-sonnet-20240229", "claude-3-sonnet", "vfm", 200_000],
  ["claude-3-opus-20240229", "claude-3-opus", "vfm", 200_000],
  ["claude-3-5-haiku-20241022", "claude-3-5-haiku", "vfm", 200_000],
  ["claude-3-5-sonnet-20241022", "claude-3-5-sonnet", "vfm", 200_000],
  ["claude-3-7-sonnet-20250219", "claude-3-7-sonnet", "vfm", 200_000],
  ["claude-sonnet-4-20250514", "claude-4-sonnet", "vfm", 200_000],
  ["claude-opus-4-20250514", "claude-4-opus", "vfm", 200_000],
  ["Llama-3.3-8B-Instruct", "llama-3.3-8b", "fjm", 128_000],
  ["Llama-3.3-70B-Instruct", "llama-3.3-70b", "fjm", 128_000],
  ["Llama-4-Scout-17B-16E-Instruct-FP8", "llama-4-scout", "vfjsm", 128_000],
  ["Llama-4-Maverick-17B-128E-Instruct-FP8", "llama-4-maverick", "vfjsm", 128_000],
];

function rowOf(model: string): Row | undefined {
  const resolved = POINTERS[model] ?? model;
  return ROWS.find(([name]) => name === resolved);
}

/**
 * What a hosted model can do, by its name or the alias of one.
 * @throws ValueError for names that are not known: the config must say it then
 */
export function modelInfoOf(model: string): ModelInfo {
  const row = rowOf(model);
  if (row === undefined) throw unknownModel(model);
  const [, family, abilities] = row;
  return {
    vision: abilities.includes("v"),
    function_calling: abilities.includes("f"),
    json_output: abilities.includes("j"),
    family,
    structured_output: abilities.includes("s"),
    multiple_system_messages: abilities.includes("m"),
  };
}

/** Tokens of a model's context window; undefined when not known. */
export function tokenLimitOf(model: string): number | undefined {
  return rowOf(model)?.[3] || undefined;
}

/** The error for a model whose abilities neither we nor the config know. */
export function unknownModel(model: string): ValueError {
  const message =
    `model_info is required: the model '${model}' is not known. Give it with vision, function_calling, ` +
    "json_output, structured_output (true or false), family (such as 'unknown') and, if the model takes several " +
    "system messages, multiple_system_messages";
  return new ValueError(message, { issues: [{ path: "model_info", message }] });
}
