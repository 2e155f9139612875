import type { HumanRequest } from "../../../../contract/run.ts";
import type { Json } from "../../../../core/json.ts";
import type { UserPart } from "../../../../core/models/llm-messages.ts";
import type { RunItem, TextPlace } from "../../shared/run-item.ts";
import { ThinkingText } from "../../../../core/text/thinking-text.ts";
import { type Chunk, DONE, type PartMetadata, written } from "./chunk.ts";
import { filePart } from "./data-parts.ts";
import { type ToolPart, ToolParts } from "./tool-parts.ts";

type ItemOf<Type extends RunItem["type"]> = Extract<RunItem, { type: Type }>;

/** A text that is being written: the thought that it may begin with, and its answer. */
interface OpenText {
  id: string;
  place: TextPlace;
  /** Its pieces' chunks up to the piece. */
  head: string;
  read: ThinkingText;
  /** The open part. */
  part: "reasoning" | "text" | undefined;
  /** True if the answer's message begins with the part written so far, which is known when the message comes. */
  isAhead: boolean;
}

/** Writes the parts of one UI message in their steps. */
export class MessageWriter {
  readonly calls = new ToolParts();
  readonly #texts = new Map<string, OpenText>();
  /** Answers behind a thought whose message has not come yet, by who speaks. */
  readonly #answers = new Map<string, OpenText>();
  #out = "";
  /** The open step, which may have started in an earlier stream of the message. */
  #step: "none" | "here" | "before" = "none";
  /** True if the last step of the message has tool calls. */
  #hasCalls = false;

  /** The message has started in an earlier stream, with a step that waits for results. */
  continueStep(): void {
    this.#step = "before";
    this.#hasCalls = true;
  }

  /** The chunks written since the last call. */
  take(): string {
    const out = this.#out;
    this.#out = "";
    return out;
  }

  /** Forgets all that was written. */
  clear(): void {
    this.#out = "";
    this.#step = "none";
    this.#hasCalls = false;
    this.#texts.clear();
    this.#answers.clear();
    this.calls.clear();
  }

  hasText(messageId: string): boolean {
    return this.#texts.has(messageId);
  }

  write(chunk: Chunk): void {
    this.#out += written(chunk);
  }

  /** The last event. */
  done(): void {
    this.#out += DONE;
  }

  openStep(): void {
    if (this.#step !== "none") return;
    this.write({ type: "start-step" });
    this.#step = "here";
    this.#hasCalls = false;
  }

  /** Agents that speak at the same time share a step: version 6 ends all texts with a step. */
  endStepIfDone(): void {
    const isOpen = this.#texts.size > 0 || this.#answers.size > 0 || this.calls.size > 0;
    if (!isOpen) this.endStep();
  }

  endStep(): void {
    if (this.#step === "here") this.write({ type: "finish-step" });
    this.#step = "none";
  }

  /** Its parts begin with their first pieces. @param plain whether it cannot begin with a thought */
  openText(place: TextPlace, plain = false): OpenText {
    const { messageId, attempt } = place;
    this.openStep();
    const id = attempt === 1 ? messageId : keyOf(place);
    const text: OpenText = {
      id,
      place,
      head: `data: {"type":"text-delta","id":${JSON.stringify(id)},"delta":`,
      read: new ThinkingText(plain),
      part: undefined,
      isAhead: false,
    };
    this.#texts.set(messageId, text);
    return text;
  }

  grow(item: ItemOf<"text_delta">): void {
    // A replayed message may begin in the middle of a text.
    const text = this.#texts.get(item.messageId) ?? this.openText(item);
    if (!text.isAhead) return this.#write(text, text.read.add(item.delta));
    if (item.delta.startsWith(text.read.answer)) {
      text.isAhead = false;
      return this.#write(text, { thought: "", answer: item.delta.slice(text.read.answer.length) });
    }
    this.#texts.delete(item.messageId);
    this.#giveUp(text);
    this.grow(item);
  }

  #write(text: OpenText, { thought, answer }: { thought: string; answer: string }): void {
    const { id, place, head, read } = text;
    if (thought !== "") {
      if (text.part === undefined) {
        text.part = "reasoning";
        this.write({ type: "reasoning-start", id, providerMetadata: metadataOf(place) });
      }
      this.write({ type: "reasoning-delta", id, delta: thought });
    }
    if (read.isAnswer && text.part === "reasoning") this.#endPart(text);
    if (answer === "") return;
    if (text.part === undefined) {
      text.part = "text";
      this.write({ type: "text-start", id, providerMetadata: metadataOf(place) });
    }
    this.#out += `${head}${JSON.stringify(answer)}}\n\n`;
  }

  /** Ends the part that is open, if one is. @param providerMetadata instead of what it began with */
  #endPart(text: OpenText, providerMetadata?: PartMetadata): void {
    const { id, part } = text;
    text.part = undefined;
    if (part === undefined) return;
    this.write({ type: `${part}-end`, id, ...(providerMetadata && { providerMetadata }) });
  }

  /** @param thought whether it turned out to be one */
  endText(item: ItemOf<"text_end">, thought: boolean): void {
    const { messageId } = item;
    const text = this.#texts.get(messageId);
    if (text === undefined) return;
    this.#write(text, text.read.end());
    this.#texts.delete(messageId);
    if (item.void && !thought) return this.#giveUp(text);
    const isOther = text.place.messageId !== messageId;
    const metadata = thought || isOther ? metadataOf(item, thought ? { thought } : {}) : undefined;
    this.#endPart(text, metadata);
  }

  /** Ends a text that is in no message. */
  #giveUp(text: OpenText): void {
    const { messageId: message, source, attempt } = text.place;
    this.#endPart(text, metadataOf(text.place, { void: true }));
    this.write({ type: "data-retry", data: { message, source, attempt }, transient: true });
  }

  /** True if a text begins with a thought. */
  thinks(messageId: string): boolean {
    return this.#texts.get(messageId)?.read.thinks === true;
  }

  /** The thought of a text has come; its answer is that of the message that follows. */
  keepAnswer({ messageId, source }: ItemOf<"text_end">): void {
    const text = this.#texts.get(messageId);
    if (text === undefined) return;
    this.#write(text, text.read.end());
    this.#texts.delete(messageId);
    if (text.part === "text") this.#answers.set(source, text);
    else this.#endPart(text);
  }

  /** Begins the text of a message, with the answer that was written behind its thought. */
  openMessage(place: TextPlace): void {
    const text = this.#answers.get(place.source);
    if (text === undefined) return void this.openText(place, true);
    this.#answers.delete(place.source);
    this.#texts.set(place.messageId, text);
    text.isAhead = true;
  }

  /** Ends answers whose message has not come. @param source only its */
  giveUpAnswers(source?: string): void {
    for (const [speaker, text] of this.#answers) {
      if (source !== undefined && source !== speaker) continue;
      this.#answers.delete(speaker);
      this.#giveUp(text);
    }
  }

  thought({ id, source, content }: ItemOf<"thought">): void {
    this.openStep();
    const providerMetadata = metadataOf({ messageId: id, source });
    this.write({ type: "reasoning-start", id, providerMetadata });
    this.write({ type: "reasoning-delta", id, delta: content });
    this.write({ type: "reasoning-end", id });
  }

  /** Texts, images and files, in their order. */
  parts(content: readonly UserPart[], providerMetadata: PartMetadata): void {
    this.openStep();
    const { message } = providerMetadata.troupe;
    for (const [index, one] of content.entries()) {
      if (typeof one !== "string") {
        this.write({ ...filePart(one), providerMetadata });
      } else if (one !== "") {
        const id = `${message}~part${index}`;
        this.write({ type: "text-start", id, providerMetadata });
        this.write({ type: "text-delta", id, delta: one });
        this.write({ type: "text-end", id });
      }
    }
  }

  /** A data part, which is in a step if it stays. */
  data(chunk: Chunk): void {
    if (!("transient" in chunk)) this.openStep();
    this.write(chunk);
  }

  /** @param request the question about it, if the client is to make the call */
  showCall(part: ToolPart, toolName: string, input: Json, request?: HumanRequest): void {
    const { id, source, message } = part;
    this.openStep();
    this.#hasCalls = true;
    this.write({
      type: "tool-input-available",
      toolCallId: id,
      toolName,
      input,
      dynamic: true,
      providerExecuted: request === undefined,
      ...(source !== undefined &&
        message !== undefined && {
          providerMetadata: metadataOf({ messageId: message, source }),
        }),
      ...(request && { toolMetadata: { troupe: { request: request.id } } }),
    });
  }

  output(toolCallId: string, output: Json): void {
    this.write({
      type: "tool-output-available",
      toolCallId,
      output,
      dynamic: true,
      providerExecuted: true,
    });
  }

  outputError(toolCallId: string, errorText: string): void {
    this.write({
      type: "tool-output-error",
      toolCallId,
      errorText,
      dynamic: true,
      providerExecuted: true,
    });
  }

  /** Ends the step, and leaves none with calls as the last one. */
  endLastStep(): void {
    this.endStep();
    if (!this.#hasCalls) return;
    this.openStep();
    this.endStep();
  }
}

export function keyOf({ messageId, attempt }: TextPlace): string {
  return `${messageId}~${attempt}`;
}

export function metadataOf(
  { messageId, source }: Pick<TextPlace, "messageId" | "source">,
  more: Partial<PartMetadata["troupe"]> = {},
): PartMetadata {
  return { troupe: { source, message: messageId, ...more } };
}
