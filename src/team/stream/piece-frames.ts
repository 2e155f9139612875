import type { ModelClientStreamingChunkEvent } from "../../core/messages/agent-events.ts";

/**
 * Writes the frames of the pieces of one text: unnamed and without an id, because pieces are not recorded. Usually,
 * pieces of one text differ only in id and content; then the rest is encoded once.
 */
export class PieceFrames {
  #first: ModelClientStreamingChunkEvent | undefined;
  #before = "";
  #after = "";

  write(piece: ModelClientStreamingChunkEvent): string {
    const { id, content } = piece;
    if (this.#first === undefined) {
      const { id: _id, content: _content, full_message_id, type, ...others } = piece;
      this.#first = piece;
      this.#before = JSON.stringify(others).slice(1, -1);
      this.#after = JSON.stringify({ full_message_id, type }).slice(1, -1);
    } else if (!isAlike(piece, this.#first)) {
      return `data: ${JSON.stringify(piece)}\n\n`;
    }
    return `data: {"id":${JSON.stringify(id)},${this.#before},"content":${JSON.stringify(content)},${this.#after}}\n\n`;
  }
}

/** True if two pieces differ only in id and content. */
function isAlike(
  piece: ModelClientStreamingChunkEvent,
  other: ModelClientStreamingChunkEvent,
): boolean {
  return (
    piece.created_at === other.created_at &&
    piece.source === other.source &&
    piece.full_message_id === other.full_message_id &&
    piece.models_usage === other.models_usage &&
    isEmpty(piece.metadata) &&
    isEmpty(other.metadata)
  );
}

function isEmpty(object: object): boolean {
  for (const _key in object) return false;
  return true;
}
