import { isJsonObject, type JsonObject } from "../../../core/json.ts";
import type { CreateResult } from "../../../core/models/chat-completion-client.ts";
import { CallAssembly, callPartsOf } from "../chat/call-assembly.ts";
import type { AnsweringModel } from "../chat/reply.ts";
import { StreamedText, type StreamedTextSettings } from "../chat/streamed-text.ts";
import type { Piece } from "../http/answer-formats.ts";
import { unfinished } from "../http/errors.ts";
import type { AnswerReader } from "../http/read-stream.ts";
import { type Block, type BlockDelta, eventOf, type AnthropicUsage } from "./events.ts";
import { resultOf, usageOf } from "./reply.ts";
import { signedTurn } from "./signed-turn.ts";

/** Assembles a message from its events; a whole one is read as all of them. */
export class MessageReader implements AnswerReader<CreateResult> {
  readonly #names: AnsweringModel;
  readonly #answerTool: string | undefined;
  readonly #shown: StreamedText;
  /** The blocks of the message so far, by their index. The input of a call is not among them. */
  readonly #blocks = new Map<number, JsonObject>();
  readonly #toolCalls = new CallAssembly();
  #stopReason: string | null = null;
  #usage: AnthropicUsage = {};
  #isComplete = false;
  ended = false;

  /** @param answerTool the name of the tool whose arguments are the answer: they are shown */
  constructor(
    names: AnsweringModel,
    answerTool: string | undefined,
    startOver?: StreamedTextSettings["startOver"],
  ) {
    this.#names = names;
    this.#shown = new StreamedText({ ...names, startOver });
    this.#answerTool = answerTool;
  }

  get hasBegun(): boolean {
    return this.#shown.hasBegun || this.#toolCalls.hasBegun;
  }

  /** The text that an event adds, with thinking between `<think>` tags. */
  read({ value, event: name }: Piece): string {
    if (!isJsonObject(value)) return "";
    const event = eventOf(value, name);
    switch (event.type) {
      case "message_start":
        this.#addUsage(event.usage);
        return "";
      case "message":
        return this.#addWhole(event);
      case "content_block_start":
        return this.#begin(event.index, event.block);
      case "content_block_delta":
        return this.#add(event.index, event.delta);
      case "message_delta":
        this.#addUsage(event.usage);
        this.#stopReason = event.stopReason ?? this.#stopReason;
        return this.#shown.add(null);
      case "message_stop":
        this.ended = true;
        return "";
      case "other":
        return "";
    }
  }

  end(): string {
    return this.#shown.end();
  }

  /** @throws ModelError `bad_response` when the stream ended before the message did */
  result(): CreateResult {
    if (this.#stopReason === null && !this.#isComplete) throw unfinished();
    return resultOf(
      {
        text: this.#shown.text,
        thinking: this.#shown.reasoning,
        toolCalls: this.#toolCalls.calls,
        stopReason: this.#stopReason,
        usage: usageOf(this.#usage),
        troupe: signedTurn([...this.#blocks.values()], this.#names.model),
      },
      this.#names,
      this.#answerTool,
    );
  }

  #addWhole(message: {
    blocks: Block[];
    stopReason: string | undefined;
    usage: AnthropicUsage;
  }): string {
    const shown = message.blocks.map((block, index) => this.#begin(index, block)).join("");
    this.#addUsage(message.usage);
    this.#stopReason = message.stopReason ?? null;
    this.#isComplete = true;
    this.ended = true;
    return shown + this.#shown.add(null);
  }

  #begin(index: number, block: Block): string {
    const { raw } = block;
    this.#blocks.set(index, { ...raw });
    switch (block.type) {
      case "tool_use":
        for (const part of block.parts) this.#toolCalls.begin({ ...part, index });
        return this.#shown.add(null);
      case "text":
        return block.text === "" ? "" : this.#shown.add(null, block.text);
      case "thinking":
        return this.#shown.add(block.thinking);
      default:
        return "";
    }
  }

  #add(index: number, delta: BlockDelta): string {
    const block = this.#blocks.get(index);
    switch (delta.type) {
      case "text":
        append(block, "text", delta.text);
        return this.#shown.add(null, delta.text);
      case "thinking":
        append(block, "thinking", delta.text);
        return this.#shown.add(delta.text);
      case "signature":
        append(block, "signature", delta.text);
        return "";
      case "input": {
        const name = this.#toolCalls.nameAt(index);
        if (name === undefined) return "";
        this.#toolCalls.add(callPartsOf({ index, arguments: delta.text }));
        return name === this.#answerTool ? delta.text : "";
      }
      case "other":
        return "";
    }
  }

  /** Counts are sums over the message so far; an event need not have all of them. */
  #addUsage(usage: AnthropicUsage): void {
    for (const [name, count] of Object.entries(usage))
      if (count !== undefined) this.#usage = { ...this.#usage, [name]: count };
  }
}

function append(block: JsonObject | undefined, name: string, text: string): void {
  if (block === undefined) return;
  const before = block[name];
  block[name] = (typeof before === "string" ? before : "") + text;
}
