import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import type { CreateResult, TokenLogprob } from "../../../../core/models/chat-completion-client.ts";
import type { FunctionCall } from "../../../../core/models/llm-messages.ts";
import { ModelError } from "../../../../core/models/model-error.ts";
import type { ChunkReader } from "../../http/read-stream.ts";
import { newCallId, toResult } from "../../chat/reply.ts";
import { StreamedThought } from "../../chat/thought.ts";
import { keepFields } from "./given-fields.ts";
import { type GivenMessage, GivenParts } from "./given-parts.ts";
import { argumentsOf, logprobsOf, type Served, shownTexts, usageOf } from "./read-completion.ts";
import type { CompletionEvent } from "../server-events.ts";

type Delta = ChatCompletionChunk.Choice.Delta;
type ToolCallPart = ChatCompletionChunk.Choice.Delta.ToolCall;

/** Assembles a streamed reply, chunk by chunk. */
export class StreamReader implements ChunkReader<CompletionEvent, CreateResult> {
  readonly #served: Served;
  readonly #given: GivenParts;
  #text = "";
  readonly #thought = new StreamedThought();
  #finishReason: string | null = null;
  /** Whether a part of the reply has arrived, and whether the last event has. */
  #hasBegun = false;
  #hasEnded = false;
  #usage: ChatCompletionChunk["usage"];
  readonly #logprobs: TokenLogprob[] = [];
  readonly #toolCalls: ToolCallParts;

  constructor(served: Served) {
    this.#served = served;
    this.#given = new GivenParts(served.maker.repeats === true);
    this.#toolCalls = new ToolCallParts(this.#given);
  }

  /** The text that a chunk adds, with reasoning between `<think>` tags. */
  read(chunk: CompletionEvent): string {
    if (chunk === null) {
      this.#hasEnded = true;
      return this.#thought.add(null);
    }
    // The chunk with the usage may come last and alone, or every chunk may carry it.
    if (chunk.usage) this.#usage = chunk.usage;
    const choice = chunk.choices?.[0];
    if (choice === undefined) return "";
    this.#hasBegun = true;
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

  /**
   * A reply is complete with its finish reason or, from servers that give none, with the stream's last event.
   *
   * @throws ModelError `bad_response` when the stream ended before the reply did
   */
  result(): CreateResult {
    if (this.#finishReason === null && !(this.#hasBegun && this.#hasEnded))
      throw new ModelError("bad_response", "The model server's stream ended before the reply did");
    const toolCalls = this.#toolCalls.calls;
    const { model, maker, family } = this.#served;
    return toResult(
      {
        text: this.#text,
        reasoning: this.#thought.text,
        toolCalls,
        finishReason: this.#finishReason,
        usage: usageOf(this.#usage, maker),
        logprobs: this.#logprobs.length > 0 ? this.#logprobs : null,
        troupe: keepFields(this.#given.fields, toolCalls.length > 0, maker, model),
      },
      family,
    );
  }
}

/**
 * Tool calls that arrive in parts. The index distinguishes them, or the id where a server gives all the same index. A server
 * that gives no ids sends each call whole, with its name.
 */
class ToolCallParts {
  readonly calls: FunctionCall[] = [];
  readonly #open = new Map<number, OpenCall>();
  readonly #given: GivenParts;

  constructor(given: GivenParts) {
    this.#given = given;
  }

  add(parts: readonly ToolCallPart[]): void {
    for (const delta of parts) {
      const { index, id, function: part } = delta;
      let open = this.#open.get(index);
      if (open === undefined || isNext(open, delta)) {
        open = { call: { id: id || newCallId(), name: "", arguments: "" }, hasId: Boolean(id) };
        this.#open.set(index, open);
        this.calls.push(open.call);
      }
      const { call } = open;
      if (id && !open.hasId) {
        call.id = id;
        open.hasId = true;
      }
      if (part?.name) call.name += part.name;
      if (part?.arguments) call.arguments += argumentsOf(part.arguments);
      this.#given.addCall(call.id, (delta as GivenMessage).extra_content);
    }
  }
}

interface OpenCall {
  call: FunctionCall;
  /** Whether its id is the server's. */
  hasId: boolean;
}

/** Whether a part begins another call than the one with the same index. */
function isNext({ call, hasId }: OpenCall, { id, function: part }: ToolCallPart): boolean {
  if (hasId) return Boolean(id) && id !== call.id;
  return Boolean(part?.name) && isJson(call.arguments);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
