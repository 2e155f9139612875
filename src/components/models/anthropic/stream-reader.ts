import type { ContentBlock, RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";
import type { CreateResult } from "../../../core/models/chat-completion-client.ts";
import type { FunctionCall } from "../../../core/models/llm-messages.ts";
import { ModelError } from "../../../core/models/model-error.ts";
import type { ModelNames } from "../chat/reply.ts";
import type { ChunkReader } from "../http/read-stream.ts";
import { StreamedThought } from "../chat/thought.ts";
import { resultOf, type Usage, usageOf } from "./reply.ts";
import { signedTurn } from "./signed-turn.ts";

/** Assembles a streamed message, event by event. */
export class StreamReader implements ChunkReader<RawMessageStreamEvent, CreateResult> {
  /** The name of the tool whose arguments are the answer: they are shown. */
  answerTool: string | undefined;
  readonly #names: ModelNames;
  readonly #thought = new StreamedThought();
  /** The blocks of the message so far, by their index. The input of a call is not among them. */
  readonly #blocks = new Map<number, ContentBlock>();
  readonly #toolCalls = new Map<number, FunctionCall>();
  #text = "";
  #stopReason: string | null = null;
  #usage: Usage = {};

  constructor(names: ModelNames) {
    this.#names = names;
  }

  /** The text that an event adds, with thinking between `<think>` tags. */
  read(event: RawMessageStreamEvent): string {
    switch (event.type) {
      case "message_start":
        this.#addUsage(event.message?.usage);
        return "";
      case "content_block_start":
        return this.#begin(event.index, event.content_block);
      case "content_block_delta":
        return this.#add(event.index, event.delta);
      case "message_delta":
        this.#addUsage(event.usage);
        this.#stopReason = event.delta.stop_reason ?? this.#stopReason;
        return this.#thought.add(null);
      default:
        return "";
    }
  }

  /** @throws ModelError `bad_response` when the stream ended before the message did */
  result(): CreateResult {
    if (this.#stopReason === null)
      throw new ModelError("bad_response", "The model server's stream ended before the reply did");
    return resultOf(
      {
        text: this.#text,
        thinking: this.#thought.text,
        toolCalls: [...this.#toolCalls.values()].map((call) => ({
          ...call,
          // Without arguments the server sends no input.
          arguments: call.arguments || "{}",
        })),
        stopReason: this.#stopReason,
        usage: usageOf(this.#usage),
        troupe: signedTurn([...this.#blocks.values()], this.#names.model),
      },
      this.#names.family,
      this.answerTool,
    );
  }

  #begin(index: number, block: BlockStart["content_block"]): string {
    this.#blocks.set(index, { ...block });
    switch (block.type) {
      case "tool_use":
        this.#toolCalls.set(index, { id: block.id, name: block.name, arguments: "" });
        return this.#thought.add(null);
      case "text":
        return block.text ? this.#addText(block.text) : "";
      case "thinking":
        return this.#thought.add(block.thinking ?? "");
      default:
        return "";
    }
  }

  #add(index: number, delta: BlockDelta["delta"]): string {
    const block = this.#blocks.get(index);
    switch (delta.type) {
      case "text_delta":
        if (block?.type === "text") block.text = (block.text ?? "") + delta.text;
        return this.#addText(delta.text);
      case "thinking_delta":
        if (block?.type === "thinking") block.thinking = (block.thinking ?? "") + delta.thinking;
        return this.#thought.add(delta.thinking);
      case "signature_delta":
        if (block?.type === "thinking") block.signature = (block.signature ?? "") + delta.signature;
        return "";
      case "input_json_delta": {
        const call = this.#toolCalls.get(index);
        if (call === undefined) return "";
        call.arguments += delta.partial_json;
        return call.name === this.answerTool ? delta.partial_json : "";
      }
      default:
        return "";
    }
  }

  #addText(text: string): string {
    this.#text += text;
    return this.#thought.add(null) + text;
  }

  /** Counts are sums over the message so far; an event need not have all of them. */
  #addUsage(usage: Usage | undefined): void {
    for (const [name, count] of Object.entries(usage ?? {}))
      if (typeof count === "number") this.#usage = { ...this.#usage, [name]: count };
  }
}

type BlockStart = Extract<RawMessageStreamEvent, { type: "content_block_start" }>;
type BlockDelta = Extract<RawMessageStreamEvent, { type: "content_block_delta" }>;
