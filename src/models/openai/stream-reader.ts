import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import type { CreateResult, TokenLogprob } from "../../core/models/chat-completion-client.ts";
import type { FunctionCall } from "../../core/models/llm-messages.ts";
import { ModelError } from "../../core/models/model-error.ts";
import type { ChunkReader } from "../http/read-stream.ts";
import { toResult } from "../chat/reply.ts";
import { StreamedThought } from "../chat/thought.ts";
import { keepFields } from "./given-fields.ts";
import { type GivenMessage, GivenParts } from "./given-parts.ts";
import { logprobsOf, type Served, shownTexts, usageOf } from "./read-completion.ts";

type Delta = ChatCompletionChunk.Choice.Delta;
type ToolCallPart = ChatCompletionChunk.Choice.Delta.ToolCall;

/** Assembles a streamed reply, chunk by chunk. */
export class StreamReader implements ChunkReader<ChatCompletionChunk, CreateResult> {
  readonly #served: Served;
  readonly #given: GivenParts;
  #text = "";
  readonly #thought = new StreamedThought();
  #finishReason: string | null = null;
  #usage: ChatCompletionChunk["usage"];
  readonly #logprobs: TokenLogprob[] = [];
  readonly #toolCalls: ToolCallParts;

  constructor(served: Served) {
    this.#served = served;
    this.#given = new GivenParts(served.maker.repeats === true);
    this.#toolCalls = new ToolCallParts(this.#given);
  }

  /** The text that a chunk adds, with reasoning between `<think>` tags. */
  read(chunk: ChatCompletionChunk): string {
    // The chunk with the usage may come last and alone, or every chunk may carry it.
    if (chunk.usage) this.#usage = chunk.usage;
    const choice = chunk.choices?.[0];
    if (choice === undefined) return "";
    if (choice.finish_reason) this.#finishReason = choice.finish_reason;
    if (choice.logprobs) this.#logprobs.push(...(logprobsOf(choice.logprobs.content) ?? []));
    const delta = choice.delta as Delta | undefined;
    if (delta === undefined) return "";
    if (delta.tool_calls) this.#toolCalls.add(delta.tool_calls);
    this.#given.add(delta);
    const { text, reasoning } = shownTexts(delta);
    this.#text += text;
    return this.#thought.add(reasoning) + text;
  }

  /** @throws ModelError `bad_response` when the stream ended before the reply did */
  result(): CreateResult {
    if (this.#finishReason === null)
      throw new ModelError("bad_response", "The model server's stream ended before the reply did");
    const toolCalls = this.#toolCalls.calls;
    const { model, maker, family } = this.#served;
    return toResult(
      {
        text: this.#text,
        reasoning: this.#thought.text,
        toolCalls,
        finishReason: this.#finishReason,
        usage: usageOf(this.#usage),
        logprobs: this.#logprobs.length > 0 ? this.#logprobs : null,
        troupe: keepFields(this.#given.fields, toolCalls.length > 0, maker, model),
      },
      family,
    );
  }
}

/** Tool calls that arrive in parts. The index tells them apart, or the id where a server gives all the same index. */
class ToolCallParts {
  readonly calls: FunctionCall[] = [];
  readonly #open = new Map<number, FunctionCall>();
  readonly #given: GivenParts;

  constructor(given: GivenParts) {
    this.#given = given;
  }

  add(parts: readonly ToolCallPart[]): void {
    for (const delta of parts) {
      const { index, id, function: part } = delta;
      let call = this.#open.get(index);
      if (call === undefined || (id && call.id !== "" && id !== call.id)) {
        call = { id: "", name: "", arguments: "" };
        this.#open.set(index, call);
        this.calls.push(call);
      }
      if (id) call.id = id;
      if (part?.name) call.name += part.name;
      if (part?.arguments) call.arguments += part.arguments;
      this.#given.addCall(call.id, (delta as GivenMessage).extra_content);
    }
  }
}
