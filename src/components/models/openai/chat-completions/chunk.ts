import { isJsonObject, type Json, type JsonObject } from "../../../../core/json.ts";
import type { TokenLogprob } from "../../../../core/models/chat-completion-client.ts";
import { type CallPart, callPartsOf } from "../../chat/call-assembly.ts";
import {
  countIn,
  objectIn,
  objectsIn,
  optionalObject,
  textIn,
  unreadable,
} from "../../http/fields.ts";
import { says } from "../../http/server-report.ts";

/** A message or a part of one, each field with its type. */
export interface Delta {
  /** Mistral's reasoning models send a list of parts. */
  content: string | JsonObject[];
  refusal: string;
  reasoning_content: string | undefined;
  reasoning: string | undefined;
  reasoning_details: JsonObject[];
  extra_content: JsonObject | undefined;
  calls: CallPart[];
}

/** Token counts of an answer; servers leave out some or all. */
export interface ChatUsage {
  prompt: number | undefined;
  completion: number | undefined;
  total: number | undefined;
  cached: number | undefined;
  cacheWritten: number | undefined;
  reasoning: number | undefined;
}

/** A chat completion, whole or a part of a streamed one, as all servers mean it. */
export interface Chunk {
  /** True if it has a choice, even an empty one: the reply has begun. */
  hasBegun: boolean;
  /** True for a whole answer. */
  isWhole: boolean;
  delta: Delta | undefined;
  finishReason: string | undefined;
  usage: ChatUsage | undefined;
  logprobs: TokenLogprob[];
  /** The error in the choice; undefined if it has none. */
  error: Json | undefined;
}

/**
 * Gives each field of a chunk its type. What has no meaning is left out, unless the reply would be incomplete without it.
 *
 * @throws ModelError `bad_response` for a field that cannot be read
 */
export function chunkOf(value: JsonObject): Chunk {
  const [choice] = objectsIn(value["choices"], "choices");
  const streamed = choice && objectIn(choice["delta"], "delta");
  const whole =
    streamed === undefined && choice ? objectIn(choice["message"], "message") : undefined;
  const part = streamed ?? whole;
  return {
    hasBegun: choice !== undefined,
    isWhole: whole !== undefined,
    delta: part && deltaOf(part, whole !== undefined),
    finishReason: choice && reasonOf(choice["finish_reason"]),
    usage: read(value["usage"], usageIn),
    logprobs: logprobsIn(read(choice?.["logprobs"], optionalObject)?.["content"]),
    error: read(choice?.["error"], errorIn) ?? read(part?.["error"], errorIn),
  };
}

/** Reads a field that most chunks lack; undefined where it is missing or null. */
function read<T>(value: Json | undefined, as: (value: Json) => T): T | undefined {
  return value === undefined || value === null ? undefined : as(value);
}

function errorIn(error: Json): Json | undefined {
  return says(error) ? error : undefined;
}

function reasonOf(reason: Json | undefined): string | undefined {
  return typeof reason === "string" && reason !== "" ? reason : undefined;
}

function deltaOf(part: JsonObject, isWhole: boolean): Delta {
  const { refusal, reasoning_content, reasoning, reasoning_details, extra_content } = part;
  return {
    content: contentIn(part["content"], isWhole),
    refusal: read(refusal, refusalIn) ?? "",
    reasoning_content: optionalText(reasoning_content),
    reasoning: optionalText(reasoning),
    reasoning_details: Array.isArray(reasoning_details)
      ? reasoning_details.filter(isJsonObject)
      : [],
    extra_content: read(extra_content, optionalObject),
    calls: read(part["tool_calls"] ?? part["function_call"], callsIn) ?? [],
  };
}

/** The content: a text, a list of parts, or, in a whole answer, the JSON that was asked for. */
function contentIn(content: Json | undefined, isWhole: boolean): string | JsonObject[] {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return partsIn(content);
  if (!isJsonObject(content)) return textIn(content, "content");
  if (typeof content["text"] === "string" || content["type"] !== undefined) return [content];
  if (isWhole && Object.keys(content).length > 0) return JSON.stringify(content);
  throw unreadable('a "content" that is not a text', content);
}

function partsIn(parts: Json[]): JsonObject[] {
  return objectsIn(
    parts.map((part) => (typeof part === "string" ? { type: "text", text: part } : part)),
    "content",
  );
}

/** A model's refusal is text, whatever the type of the field. */
function refusalIn(refusal: Json): string {
  if (typeof refusal === "string") return refusal;
  return isJsonObject(refusal) && says(refusal) ? JSON.stringify(refusal) : "";
}

/** @throws ModelError `bad_response` for a list with something else than calls */
export function callsIn(calls: Json | undefined): CallPart[] {
  return callPartsOf(objectsIn(calls, "tool_calls"));
}

function optionalText(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function usageIn(value: Json): ChatUsage | undefined {
  const usage = optionalObject(value);
  if (usage === undefined) return undefined;
  const prompt = read(usage["prompt_tokens_details"], optionalObject);
  const completion = read(usage["completion_tokens_details"], optionalObject);
  return {
    prompt: read(usage["prompt_tokens"], countIn),
    completion: read(usage["completion_tokens"], countIn),
    total: read(usage["total_tokens"], countIn),
    // DeepSeek's and Moonshot's names for the cached tokens come after OpenAI's.
    cached:
      read(prompt?.["cached_tokens"], countIn) ??
      read(usage["prompt_cache_hit_tokens"], countIn) ??
      read(usage["cached_tokens"], countIn),
    cacheWritten: read(prompt?.["cache_write_tokens"], countIn),
    reasoning: read(completion?.["reasoning_tokens"], countIn),
  };
}

/** Log probabilities; those without a token or a number are left out. */
export function logprobsIn(value: Json | undefined): TokenLogprob[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isJsonObject).flatMap((entry): TokenLogprob[] => {
    const { token, logprob, bytes, top_logprobs: top } = entry;
    if (typeof token !== "string" || typeof logprob !== "number") return [];
    const others = Array.isArray(top)
      ? top.filter(isJsonObject).flatMap(({ logprob: other, bytes: of }) => {
          return typeof other === "number" ? [{ logprob: other, bytes: bytesIn(of) }] : [];
        })
      : null;
    return [{ token, logprob, bytes: bytesIn(bytes), top_logprobs: others }];
  });
}

function bytesIn(value: Json | undefined): number[] | null {
  if (!Array.isArray(value)) return null;
  return value.every((byte) => typeof byte === "number") ? value : null;
}
