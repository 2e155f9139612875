import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import type { CreateResult, TokenLogprob } from "../../core/models/chat-completion-client.ts";
import type { FunctionCall } from "../../core/models/llm-messages.ts";
import { ModelError } from "../../core/models/model-error.ts";
import type { ChunkReader } from "./connection.ts";
import { logprobsOf, type Reasoning, reasoningOf, toResult, usageOf } from "./read-completion.ts";
import { THOUGHT_TAGS } from "./thought.ts";

type Delta = ChatCompletionChunk.Choice.Delta;
type ToolCallPart = ChatCompletionChunk.Choice.Delta.ToolCall;

/** Puts a streamed reply together, chunk by chunk. */
export class StreamReader implements ChunkReader<CreateResult> {
  readonly #family: string;
  #text = "";
  #reasoning: string | null = null;
  #thinking = false;
  #finishReason: string | null = null;
  #usage: ChatCompletionChunk["usage"];
  readonly #logprobs: TokenLogprob[] = [];
  readonly #toolCalls = new ToolCallParts();

  constructor(family: string) {
    this.#family = family;
  }

  /** What a chunk adds to the text that is shown, reasoning between `<think>` tags included. */
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
    const piece = delta.content || delta.refusal || "";
    this.#text += piece;
    return this.#thought(reasoningOf(delta as Reasoning)) + piece;
  }

  /** @throws ModelError `bad_response` when the stream ended before the reply did */
  result(): CreateResult {
    if (this.#finishReason === null)
      throw new ModelError("bad_response", "The model server's stream ended before the reply did");
    return toResult(
      {
        text: this.#text,
        reasoning: this.#reasoning,
        toolCalls: this.#toolCalls.calls,
        finishReason: this.#finishReason,
        usage: usageOf(this.#usage),
        logprobs: this.#logprobs.length > 0 ? this.#logprobs : null,
      },
      this.#family,
    );
  }

  /** An empty piece of reasoning does not end it, a chunk without any does. */
  #thought(reasoning: string | null): string {
    if (reasoning === null) {
      if (!this.#thinking) return "";
      this.#thinking = false;
      return THOUGHT_TAGS.close;
    }
    if (reasoning === "") return "";
    this.#reasoning = (this.#reasoning ?? "") + reasoning;
    if (this.#thinking) return reasoning;
    this.#thinking = true;
    return THOUGHT_TAGS.open + reasoning;
  }
}

/** Tool calls that come in parts, told apart by index or, where a server gives all the same one, by id. */
class ToolCallParts {
  readonly calls: FunctionCall[] = [];
  readonly #open = new Map<number, FunctionCall>();

  add(parts: readonly ToolCallPart[]): void {
    for (const { index, id, function: part } of parts) {
      let call = this.#open.get(index);
      if (call === undefined || (id && call.id !== "" && id !== call.id)) {
        call = { id: "", name: "", arguments: "" };
        this.#open.set(index, call);
        this.calls.push(call);
      }
      if (id) call.id = id;
      if (part?.name) call.name += part.name;
      if (part?.arguments) call.arguments += part.arguments;
    }
  }
}
