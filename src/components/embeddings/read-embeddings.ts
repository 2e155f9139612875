import { fromBase64 } from "../../core/base64.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import { ModelError } from "../../core/models/model-error.ts";
import type { RequestUsage } from "../../core/models/request-usage.ts";

/** The answer of a server to one request. */
export interface EmbeddingAnswer {
  /** In the order of the inputs, unchecked. */
  vectors: unknown;
  usage: RequestUsage | undefined;
}

export function bad(what: string): ModelError {
  return new ModelError("bad_response", `The embedding server's answer ${what}`);
}

export function tooFew(given: number, wanted: number): ModelError {
  return bad(`has ${given} vectors for ${wanted} texts`);
}

/**
 * Reads an answer in OpenAI's form: `data` with `embedding` and `index` each, and `usage`. Some servers leave out the index, or what
 * is around the vectors, and some answer with base64.
 *
 * @throws ModelError `bad_response` that names the field
 */
export function readOpenAIEmbeddings(body: unknown, wanted: number): EmbeddingAnswer {
  const data = listIn(body).filter((item) => item !== null);
  if (data.length !== wanted) throw tooFew(data.length, wanted);
  const vectors: unknown[] = [];
  for (const [place, item] of data.entries()) {
    const { index, embedding } = entryOf(item, place);
    const at = typeof index === "string" ? Number(index) : (index ?? place);
    if (typeof at !== "number" || !Number.isInteger(at) || at < 0 || at >= data.length) {
      throw bad(`has no index from 0 to ${data.length - 1} in data[${place}].index`);
    }
    if (at in vectors) throw bad(`has the index ${at} twice, again in data[${place}].index`);
    vectors[at] = vectorOf(embedding, place);
  }
  return { vectors, usage: isJsonObject(body) ? usageOf(body["usage"]) : undefined };
}

function listIn(body: unknown): unknown[] {
  if (Array.isArray(body)) return body;
  if (!isJsonObject(body)) throw bad("is not a JSON object");
  const { data, embeddings, embedding } = body;
  const list = data ?? embeddings ?? (embedding === undefined ? undefined : [body]);
  if (!Array.isArray(list)) throw bad("has no list `data`");
  return list;
}

function entryOf(item: unknown, place: number): JsonObject {
  if (isJsonObject(item)) return item;
  if (Array.isArray(item)) return { embedding: item };
  throw bad(`has no object in data[${place}]`);
}

/** A list of numbers; of servers that embed several texts at once also a list with that list. */
function vectorOf(input: unknown, place: number): unknown {
  if (Array.isArray(input)) {
    const [only] = input;
    return input.length === 1 && Array.isArray(only) ? only : input;
  }
  if (typeof input !== "string") return input;
  try {
    const { buffer, byteLength } = fromBase64(input);
    const view = new DataView(buffer);
    const numbers: number[] = [];
    for (let at = 0; at < byteLength; at += 4) numbers.push(view.getFloat32(at, true));
    return numbers;
  } catch {
    throw bad(`has no numbers and no base64 in data[${place}].embedding`);
  }
}

export function usageOf(usage: unknown): RequestUsage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const tokens = usage["prompt_tokens"] ?? usage["total_tokens"];
  if (typeof tokens !== "number" || !Number.isSafeInteger(tokens) || tokens <= 0) return undefined;
  return { prompt_tokens: tokens, completion_tokens: 0 };
}
