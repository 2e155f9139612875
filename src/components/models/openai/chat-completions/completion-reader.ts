import { isJsonObject, type Json, type JsonObject } from "../../../../core/json.ts";
import type { CreateResult, TokenLogprob } from "../../../../core/models/chat-completion-client.ts";
import type { FunctionCall } from "../../../../core/models/llm-messages.ts";
import { type TokenUsage, usageDetails } from "../../../../core/models/request-usage.ts";
import { CallAssembly } from "../../chat/call-assembly.ts";
import { type AnsweringModel, toResult } from "../../chat/reply.ts";
import { StreamedText, type StreamedTextSettings } from "../../chat/streamed-text.ts";
import type { Piece } from "../../http/answer-formats.ts";
import { ServerFailure, unfinished } from "../../http/errors.ts";
import type { AnswerReader } from "../../http/read-stream.ts";
import { type ChatUsage, type Chunk, chunkOf, type Delta } from "./chunk.ts";
import type { Maker } from "./maker.ts";
import { keepFields, type ProviderFields } from "./provider-fields.ts";

/** A model and the operator of its server. */
export interface Served extends AnsweringModel {
  maker: Maker;
}

/** Assembles a chat completion from its chunks, of which a whole answer is the only one. */
export class CompletionReader implements AnswerReader<CreateResult> {
  readonly #served: Served;
  readonly #chunkOf: (value: JsonObject) => Chunk;
  readonly #given: ProviderDataCollector;
  readonly #shown: StreamedText;
  #isRefusal = false;
  #finishReason: string | null = null;
  /** True once a part of the reply has arrived, and once its last one has. */
  #hasBegun = false;
  #isComplete = false;
  #usage: ChatUsage | undefined;
  readonly #logprobs: TokenLogprob[] = [];
  readonly #toolCalls = new CallAssembly();
  ended = false;

  /** @param chunk reads a chunk, for servers with another format */
  constructor(
    served: Served,
    startOver?: StreamedTextSettings["startOver"],
    chunk: (value: JsonObject) => Chunk = chunkOf,
  ) {
    this.#served = served;
    this.#shown = new StreamedText({ ...served, startOver });
    this.#chunkOf = chunk;
    this.#given = new ProviderDataCollector(served.maker.repeats === true);
  }

  get hasBegun(): boolean {
    return this.#shown.hasBegun || this.#toolCalls.hasBegun;
  }

  /** The text that a chunk adds, with reasoning between `<think>` tags. */
  read({ value }: Piece): string {
    if (value === undefined) {
      this.#isComplete = true;
      this.ended = true;
      return this.#shown.add(null);
    }
    return Array.isArray(value) ? "" : this.#add(this.#chunkOf(value));
  }

  #add(chunk: Chunk): string {
    const { delta, finishReason, error, usage } = chunk;
    if (error !== undefined) throw new ServerFailure(error);
    // The chunk with the usage may come last and alone, or every chunk may carry it.
    if (usage) this.#usage = usage;
    if (chunk.hasBegun) this.#hasBegun = true;
    if (chunk.isWhole) this.#isComplete = true;
    if (finishReason !== undefined) this.#finishReason = finishReason;
    for (const logprob of chunk.logprobs) this.#logprobs.push(logprob);
    // Some servers end a stream with the whole message.
    const isRepeated = chunk.isWhole && (this.#shown.text !== "" || this.#toolCalls.hasBegun);
    if (delta === undefined || isRepeated) return "";
    if (delta.calls.length > 0) {
      if (chunk.isWhole) this.#toolCalls.addWhole(delta.calls);
      else this.#toolCalls.add(delta.calls);
    }
    this.#given.add(delta);
    if (delta.refusal !== "") this.#isRefusal = true;
    const { text, reasoning } = shownTexts(delta);
    return this.#shown.add(reasoning, text);
  }

  end(): string {
    return this.#shown.end();
  }

  /**
   * A reply is complete with its finish reason or, from servers that give none, with the stream's last event.
   *
   * @throws ModelError `bad_response` when the stream ended before the reply did
   */
  result(): CreateResult {
    if (this.#finishReason === null && !(this.#hasBegun && this.#isComplete)) throw unfinished();
    const toolCalls = this.#given.callsOf(this.#toolCalls);
    const { model, maker } = this.#served;
    return toResult(
      {
        text: this.#shown.text,
        isRefusal: this.#isRefusal,
        reasoning: this.#shown.reasoning,
        toolCalls,
        finishReason: this.#finishReason,
        usage: usageOf(this.#usage, maker),
        logprobs: this.#logprobs.length > 0 ? this.#logprobs : null,
        troupe: keepFields(this.#given.fields, toolCalls.length > 0, maker, model),
      },
      this.#served,
    );
  }
}

/** The shown text of a message or a part of one, and its reasoning, which servers put in several places. */
function shownTexts({ content, refusal, reasoning_content, reasoning }: Delta): {
  text: string;
  reasoning: string | null;
} {
  const { text, thinking } = textsOf(content);
  return {
    text: text || refusal,
    reasoning: reasoning_content ?? reasoning ?? thinking,
  };
}

/** The text of a content and the thinking in it. Mistral's reasoning models return a list instead of a text. */
function textsOf(content: unknown): { text: string; thinking: string | null } {
  if (typeof content === "string") return { text: content, thinking: null };
  let text = "";
  let thinking: string | null = null;
  for (const part of Array.isArray(content) ? (content as unknown[]) : []) {
    if (!isJsonObject(part)) continue;
    if (part["type"] === "thinking") thinking = (thinking ?? "") + textsOf(part["thinking"]).text;
    else if (typeof part["text"] === "string") text += part["text"];
  }
  return { text, thinking };
}

/** Some servers omit the usage or parts of it. */
function usageOf(usage: ChatUsage | undefined, maker: Maker): TokenUsage {
  const thinking = thinkingApart(usage, maker);
  return {
    prompt_tokens: usage?.prompt ?? 0,
    completion_tokens: (usage?.completion ?? 0) + thinking,
    ...usageDetails({
      cached_tokens: usage?.cached,
      cache_write_tokens: usage?.cacheWritten,
      reasoning_tokens: usage?.reasoning ?? thinking,
    }),
  };
}

/**
 * The tokens of thinking that a server counts in the total alone, though they cost as much as completion tokens. xAI says how
 * many they are (https://docs.x.ai/docs/key-information/consumption-and-rate-limits), Google does not.
 */
function thinkingApart(usage: ChatUsage | undefined, { name }: Maker): number {
  const { prompt = 0, completion = 0, total = 0, reasoning } = usage ?? {};
  const rest = total - prompt - completion;
  const isThinking = name === "google" || reasoning === rest;
  return isThinking ? Math.max(0, rest) : 0;
}

/** Collects the provider data, from a whole message or from its parts. */
class ProviderDataCollector {
  readonly fields: ProviderFields = {};
  readonly #repeats: boolean;

  /** @param repeats whether each part of a detail begins with all that came before */
  constructor(repeats: boolean) {
    this.#repeats = repeats;
  }

  add(message: Delta): void {
    for (const name of ["reasoning_content", "reasoning"] as const) {
      const text = message[name];
      if (text !== undefined) this.fields[name] = (this.fields[name] ?? "") + text;
    }
    const { reasoning_details: details, extra_content: extra, content } = message;
    for (const detail of details) this.#addDetail(detail);
    if (extra !== undefined && isSigned(extra)) this.fields.extra_content = extra;
    if (typeof content !== "string") for (const part of content) this.#addPart(part);
    else if (this.fields.content !== undefined && content !== "")
      this.#addPart({ type: "text", text: content });
  }

  /** The calls of the reply, without their `extra_content`, which is collected. */
  callsOf({ calls }: CallAssembly): FunctionCall[] {
    return calls.map(({ extra, ...call }) => {
      if (extra !== undefined) this.fields.calls = { ...this.fields.calls, [call.id]: extra };
      return call;
    });
  }

  /** Parts of one detail have the same index. */
  #addDetail(detail: JsonObject): void {
    const details = (this.fields.reasoning_details ??= []);
    const last = details.at(-1);
    const continues =
      detail["index"] !== undefined &&
      last?.["index"] === detail["index"] &&
      last["type"] === detail["type"];
    if (!continues) details.push({ ...detail });
    else extend(last, detail, this.#repeats);
  }

  /** A list as the content is kept where it has thinking; texts alone are the message's own content. */
  #addPart(part: JsonObject): void {
    const last = this.fields.content?.at(-1);
    if (last === undefined && part["type"] !== "thinking") return;
    const { thinking: pieces, ...rest } = part;
    if (last === undefined || last["type"] !== part["type"])
      (this.fields.content ??= []).push(structuredClone(part));
    else if (!Array.isArray(pieces) || !Array.isArray(last["thinking"])) extend(last, part, false);
    else {
      Object.assign(last, rest);
      for (const piece of pieces) addPiece(last["thinking"], piece);
    }
  }
}

function addPiece(pieces: Json[], piece: Json): void {
  const last = pieces.at(-1);
  if (isJsonObject(last) && isJsonObject(piece) && last["type"] === piece["type"])
    extend(last, piece, false);
  else pieces.push(piece);
}

const GROWING = new Set(["text", "summary", "data"]);

/** Adds a part: texts are appended, other values are set once. */
function extend(whole: JsonObject, part: JsonObject, repeats: boolean): void {
  for (const [name, value] of Object.entries(part)) {
    const before = whole[name];
    if (!GROWING.has(name) || typeof before !== "string" || typeof value !== "string") {
      if (value !== null || before === undefined) whole[name] = value;
    } else whole[name] = repeats && value.startsWith(before) ? value : before + value;
  }
}

/** Gemini also marks summaries of its thoughts so, which must not be sent back. */
function isSigned({ google }: JsonObject): boolean {
  return isJsonObject(google) && google["thought_signature"] !== undefined;
}
