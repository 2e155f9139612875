import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import type { CreateResult, TokenLogprob } from "../../core/models/chat-completion-client.ts";
import type { FunctionCall } from "../../core/models/llm-messages.ts";
import { ModelError } from "../../core/models/model-error.ts";
import type { ChunkReader } from "../http/read-stream.ts";
import { toResult } from "../chat/reply.ts";
import { StreamedThought } from "../chat/thought.ts";
import { logprobsOf, type Reasoning, reasoningOf, usageOf } from "./read-completion.ts";

type Delta = ChatCompletionChunk.Choice.Delta;
type ToolCallPart = ChatCompletionChunk.Choice.Delta.ToolCall;

/** Assembles a streamed reply, chunk by chunk. */
export class StreamReader implements ChunkReader<ChatCompletionChunk, CreateResult> {
  readonly #family: string;
  #text = "";
  readonly #thought = new StreamedThought();
  #finishReason: string | null = null;
  #usage: ChatCompletionChunk["usage"];
  readonly #logprobs: TokenLogprob[] = [];
  readonly #toolCalls = new ToolCallParts();

  constructor(family: string) {
    this.#family = family;
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
    const piece = delta.content || delta.refusal || "";
    this.#text += piece;
    return this.#thought.add(reasoningOf(delta as Reasoning)) + piece;
  }

  /** @throws ModelError `bad_response` when the stream ended before the reply did */
  result(): CreateResult {
    if (this.#finishReason === null)
      throw new ModelError("bad_response", "The model server's stream ended before the reply did");
    return toResult(
      {
        text: this.#text,
        reasoning: this.#thought.text,
        toolCalls: this.#toolCalls.calls,
        finishReason: this.#finishReason,
        usage: usageOf(this.#usage),
        logprobs: this.#logprobs.length > 0 ? this.#logprobs : null,
      },
      this.#family,
    );
  }
}

/** Tool calls that arrive in parts. The index tells them apart, or the id where a server gives all the same index. */
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
