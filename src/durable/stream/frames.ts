import type { StreamFrame } from "../../contract/stream-frame.ts";
import type { ModelClientStreamingChunkEvent } from "../../core/messages/agent-events.ts";
import type { EventKind } from "../storage/event-log.ts";

/** Asks clients to wait a while before they reconnect: a human takes longer. */
export const RETRY_FRAME = "retry: 15000\n\n";
export const PING_FRAME = ": ping\n\n";
export const CAUGHT_UP_FRAME = "event: caught_up\ndata: {}\n\n";

/** Names of frames about the service; items of the run are unnamed. */
const EVENT_NAMES: Record<EventKind, string | undefined> = {
  message: undefined,
  quiet: undefined,
  again: undefined,
  result: undefined,
  retract: "retract",
  failed: "failed",
  cancelled: "run",
};

/** The frame of a recorded event. `body` is JSON text, which has no line breaks. */
export function eventFrame({
  seq,
  kind,
  body,
}: {
  seq: number;
  kind: EventKind;
  body: string;
}): string {
  const name = EVENT_NAMES[kind];
  return name === undefined
    ? `id: ${seq}\ndata: ${body}\n\n`
    : `event: ${name}\nid: ${seq}\ndata: ${body}\n\n`;
}

/**
 * Writes the frames of the pieces of one text: unnamed and without an id, because pieces are not recorded. Pieces of one
 * text differ in id and content alone, as a rule; then the rest is encoded once.
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

/** Whether two pieces differ in id and content alone. */
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

export function namedFrame<Name extends "run" | "snapshot" | "discard">(
  name: Name,
  data: Extract<StreamFrame, { event: Name }>["data"],
): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Whether the stream of a run ends with this event. */
export function isTerminal(kind: EventKind): boolean {
  return kind === "result" || kind === "failed" || kind === "cancelled";
}
