import type { TextFrame } from "../../contract/stream/stream-frame.ts";
import type { ModelClientStreamingChunkEvent } from "../../core/messages/agent-events.ts";
import { streamedTextId } from "../../core/messages/create.ts";
import type { Message } from "../../core/messages/message.ts";
import { PieceFrames } from "./frames.ts";

/** The texts that stream in: what a new client is shown of each, and the frames of its pieces. Nothing here is stored. */
export class TextsInProgress {
  readonly #texts = new Map<string, { shown: TextFrame; frames: PieceFrames }>();

  /** Adds a piece to its text. @returns the frames of the text's pieces */
  add(piece: ModelClientStreamingChunkEvent): PieceFrames {
    const id = streamedTextId(piece);
    const { full_message_id, source, content } = piece;
    let text = this.#texts.get(id);
    if (text === undefined) {
      text = { shown: { full_message_id, source, content: "" }, frames: new PieceFrames() };
      this.#texts.set(id, text);
    }
    text.shown.content += content;
    return text.frames;
  }

  /** A message ends its own text, and those of its source, which may have no id. */
  end({ id, source }: Message): void {
    if (this.#texts.size === 0) return;
    this.#texts.delete(id);
    for (const [textId, { shown }] of this.#texts) {
      if (shown.source === source) this.#texts.delete(textId);
    }
  }

  textOf(id: string): string | undefined {
    return this.#texts.get(id)?.shown.content;
  }

  /** Removes the text of a message, if there is one. */
  take(id: string): TextFrame | undefined {
    const text = this.#texts.get(id);
    this.#texts.delete(id);
    return text?.shown;
  }

  /** Removes all. */
  takeAll(): TextFrame[] {
    const texts = this.shown;
    this.#texts.clear();
    return texts;
  }

  get shown(): TextFrame[] {
    return [...this.#texts.values()].map(({ shown }) => shown);
  }
}
