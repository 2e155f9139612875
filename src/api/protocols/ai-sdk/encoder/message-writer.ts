import type { HumanRequest } from "../../../../contract/run.ts";
import type { Json } from "../../../../core/json.ts";
import type { UserPart } from "../../../../core/models/llm-messages.ts";
import type { RunItem, TextPlace } from "../../shared/run-item.ts";
import { type Chunk, DONE, type PartMetadata, written } from "./chunk.ts";
import { filePart } from "./data-parts.ts";
import { type ToolPart, ToolParts } from "./tool-parts.ts";

type ItemOf<Type extends RunItem["type"]> = Extract<RunItem, { type: Type }>;

/** A text that is being written. */
interface OpenText {
  id: string;
  /** Its pieces' chunks up to the piece. */
  head: string;
}

/** Writes the parts of one UI message in their steps. */
export class MessageWriter {
  readonly calls = new ToolParts();
  readonly #texts = new Map<string, OpenText>();
  #out = "";
  /** Whether a step is open, which may have started in an earlier stream of the message. */
  #step: "none" | "here" | "before" = "none";
  /** Whether the last step of the message has tool calls. */
  #hasCalls = false;

  /** The message has started in an earlier stream, with a step that waits for results. */
  continueStep(): void {
    this.#step = "before";
    this.#hasCalls = true;
  }

  /** What was written since the last time. */
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
    if (this.#texts.size === 0 && this.calls.size === 0) this.endStep();
  }

  endStep(): void {
    if (this.#step === "here") this.write({ type: "finish-step" });
    this.#step = "none";
  }

  /** @returns how its pieces are written */
  openText(place: TextPlace): OpenText {
    const { messageId, attempt } = place;
    this.openStep();
    const id = attempt === 1 ? messageId : keyOf(place);
    const head = `data: {"type":"text-delta","id":${JSON.stringify(id)},"delta":`;
    const text = { id, head };
    this.#texts.set(messageId, text);
    this.write({ type: "text-start", id, providerMetadata: metadataOf(place) });
    return text;
  }

  grow(item: ItemOf<"text_delta">): void {
    // A replayed message may begin in the middle of a text.
    const { head } = this.#texts.get(item.messageId) ?? this.openText(item);
    this.#out += `${head}${JSON.stringify(item.delta)}}\n\n`;
  }

  /** @param thought whether it turned out to be one */
  endText(item: ItemOf<"text_end">, thought: boolean): void {
    const text = this.#texts.get(item.messageId);
    if (text === undefined) return;
    this.#texts.delete(item.messageId);
    const isVoid = item.void && !thought;
    this.write({
      type: "text-end",
      id: text.id,
      ...((isVoid || thought) && {
        providerMetadata: metadataOf(item, isVoid ? { void: true } : { thought: true }),
      }),
    });
    if (!isVoid) return;
    const { messageId: message, source, attempt } = item;
    this.write({ type: "data-retry", data: { message, source, attempt }, transient: true });
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
