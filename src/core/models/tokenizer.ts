import type { TiktokenModel } from "js-tiktoken/lite";
import { BytePairCounter } from "./byte-pairs.ts";

/** The vocabularies of OpenAI's chat models. */
type Encoding = "cl100k_base" | "o200k_base";

const loaded = new Map<Encoding, Promise<BytePairCounter>>();

/** Counts the tokens of texts for one model. */
export interface Tokenizer {
  /** The same for models that share a vocabulary. */
  readonly name: string;
  readonly count: (text: string) => number;
}

/** The tokenizer of a model; models it does not know get that of GPT-4. Vocabularies are loaded when first needed. */
export async function tokenizerFor(model: string): Promise<Tokenizer> {
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
    return "cl100k_base";
  }
}

async function load(name: Encoding): Promise<BytePairCounter> {
  const { default: vocabulary } =
    name === "o200k_base"
      ? await import("js-tiktoken/ranks/o200k_base")
      : await import("js-tiktoken/ranks/cl100k_base");
  return new BytePairCounter(vocabulary);
}
