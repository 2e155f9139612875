import { isFile } from "../attached-files.ts";
import type {
  FunctionCall,
  FunctionExecutionResult,
  LLMMessage,
  UserPart,
} from "../llm-messages.ts";
import type { RequestUsage } from "../request-usage.ts";
import { splitImages } from "../shown-images.ts";
import { fileTokens } from "./file-tokens.ts";
import { imageTokens } from "./image-tokens.ts";

/** Average characters per token in English prose. */
const CHARACTERS = 4;

type Part = UserPart | FunctionCall | FunctionExecutionResult;

/** Cached, because messages never change and are sent again with each call. */
const known = new WeakMap<LLMMessage, number>();

/**
 * Estimates the tokens of a call without reported usage, from the length of its texts. Loads no tokenizer.
 *
 * @param text the received part of the answer
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
  if (isFile(part)) return fileTokens(part, textTokens);
  if (typeof part !== "string" && "data" in part) return imageTokens(part);
  const text = typeof part === "string" ? part : JSON.stringify(part);
  return splitImages(text)
    .map((shown) => (typeof shown === "string" ? textTokens(shown) : imageTokens(shown)))
    .reduce((sum, tokens) => sum + tokens, 0);
}

/** The tokens of a text, from its length. */
export function textTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS);
}
