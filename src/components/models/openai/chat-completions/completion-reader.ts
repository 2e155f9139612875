import { isJsonObject, type JsonObject } from "../../../../core/json.ts";
import type { CreateResult, TokenLogprob } from "../../../../core/models/chat-completion-client.ts";
import { CallAssembly } from "../../chat/call-assembly.ts";
import { toResult } from "../../chat/reply.ts";
import { StreamedText, type StreamedTextSettings } from "../../chat/streamed-text.ts";
import type { Piece } from "../../http/answer-pieces.ts";
import { ServerFailure, unfinished } from "../../http/errors.ts";
import type { AnswerReader } from "../../http/read-stream.ts";
import { type Chunk, chunkOf, type ChatUsage } from "./chunk.ts";
import { keepFields } from "./provider-fields.ts";
import { ProviderDataCollector } from "./provider-data-collector.ts";
import { type Served, shownTexts, usageOf } from "./shown.ts";

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

  /** The text that a chunk adds, with reasoning between `<think>` tags. */
  read({ value }: Piece): string {
    if (value === undefined) {
      this.#isComplete = true;
      this.ended = true;
      return this.#shown.add(null);
    }
    return isJsonObject(value) ? this.#add(this.#chunkOf(value)) : "";
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
    if (chunk.isWhole) this.#toolCalls.addWhole(delta.calls);
    else this.#toolCalls.add(delta.calls);
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
