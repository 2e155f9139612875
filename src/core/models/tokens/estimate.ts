import type {
  FunctionCall,
  FunctionExecutionResult,
  ImageContent,
  LLMMessage,
} from "../llm-messages.ts";
import type { RequestUsage } from "../request-usage.ts";
import { splitImages } from "../shown-images.ts";
import { imageTokens } from "./image-tokens.ts";

/** Characters of a token, in English prose on the average. */
const CHARACTERS = 4;

type Part = string | ImageContent | FunctionCall | FunctionExecutionResult;

/** Messages never change, and the same ones are sent with each call. */
const known = new WeakMap<LLMMessage, number>();

/**
 * The tokens of a call of which nobody says how many they were, from the length of its texts. Loads no tokenizer.
 *
 * @param text what has arrived of the answer
 */
export function estimateUsage(messages: readonly LLMMessage[], text: string): RequestUsage {
  const prompt_tokens = messages.reduce((sum, message) => sum + estimateTokens(message), 0);
  return { prompt_tokens, completion_tokens: textTokens(text) };
}

/** The tokens of a message, from the length of its texts and the size of its images. */
export function estimateTokens(message: LLMMessage): number {
  let tokens = known.get(message);
  if (tokens === undefined) known.set(message, (tokens = messageTokens(message)));
  return tokens;
}

function messageTokens({ content }: LLMMessage): number {
  const parts: readonly Part[] = typeof content === "string" ? [content] : content;
  return parts.map(partTokens).reduce((sum: number, tokens) => sum + tokens, 0);
}

function partTokens(part: Part): number {
  if (typeof part !== "string" && "data" in part) return imageTokens(part);
  const text = typeof part === "string" ? part : JSON.stringify(part);
  return splitImages(text)
    .map((shown) => (typeof shown === "string" ? textTokens(shown) : imageTokens(shown)))
    .reduce((sum, tokens) => sum + tokens, 0);
}

function textTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS);
}
