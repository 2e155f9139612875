import type { TiktokenModel } from "js-tiktoken/lite";
import { BytePairCounter } from "./byte-pairs.ts";

/** The vocabularies of OpenAI's chat models. */
export type Encoding = "cl100k_base" | "o200k_base";

/** OpenAI's models since GPT-4o, with or without the maker's name as gateways write it. */
const NEW_MODELS = /^(openai\/)?(gpt-(4o|4\.1|4\.5|5|oss)|chatgpt-|o[1-9]\b)/;

const loaded = new Map<Encoding, Promise<BytePairCounter>>();

/** Counts the tokens of texts for one model. */
export interface ModelTokenizer {
  /** Equal for models that share a vocabulary. */
  readonly name: Encoding;
  readonly count: (text: string) => number;
}

/** The tokenizer of a model, for unknown models GPT-4's. Vocabularies are loaded at the first use. */
export async function tokenizerFor(model: string): Promise<ModelTokenizer> {
  const name = await encodingOf(model);
  let counter = loaded.get(name);
  if (counter === undefined) {
    counter = load(name);
    loaded.set(name, counter);
  }
  const loadedCounter = await counter;
  return { name, count: (text) => loadedCounter.count(text) };
}

async function encodingOf(model: string): Promise<Encoding> {
  const { getEncodingNameForModel } = await import("js-tiktoken/lite");
  try {
    const name = getEncodingNameForModel(model as TiktokenModel);
    return name === "o200k_base" ? name : "cl100k_base";
  } catch {
    // The package lists models by name and lags behind.
    return NEW_MODELS.test(model) ? "o200k_base" : "cl100k_base";
  }
}

async function load(name: Encoding): Promise<BytePairCounter> {
  const { default: vocabulary } =
    name === "o200k_base" ? await import("#ranks/o200k_base") : await import("#ranks/cl100k_base");
  return new BytePairCounter(vocabulary);
}
