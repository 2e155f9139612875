import type { ModelClientStreamingChunkEvent } from "./agent-events.ts";
import type { Message } from "./message.ts";
import { endEarly } from "../wait.ts";

/** The source of ids and times: a turn context. */
export interface MessageOrigin {
  id(): string;
  /** ISO 8601 UTC. */
  now(): string;
}

/** The fields of a message; those that the context fills in may be missing. */
export type MessageFields<M extends Message> = Omit<
  M,
  "id" | "models_usage" | "metadata" | "created_at"
> &
  Partial<Pick<M, "id" | "models_usage" | "metadata" | "created_at">>;

/**
 * Makes a message with an id and a time that are the same when the turn runs again.
 *
 * @example
 * createMessage(ctx, { type: "TextMessage", source: this.name, content: "Done." })
 */
export function createMessage<M extends Message>(
  origin: MessageOrigin,
  fields: MessageFields<M> & { type: M["type"]; source: string },
): M {
  const { id, source, models_usage, metadata, created_at, type, ...rest } = fields;
  return {
    id: id ?? origin.id(),
    source,
    models_usage: models_usage ?? null,
    metadata: metadata ?? {},
    created_at: created_at ?? origin.now(),
    ...rest,
    type,
  } as M;
}

/**
 * The events for the pieces of one streamed reply. Their ids are made from the message's, because a repeated turn
 * has no pieces and must still give every later message the id it had.
 *
 * @param shownId the message id in the chunks; null where AutoGen leaves it out
 */
export function chunkEvents(
  origin: MessageOrigin,
  source: string,
  messageId: string,
  shownId: string | null = messageId,
): (content: string) => ModelClientStreamingChunkEvent {
  const created_at = origin.now();
  let count = 0;
  return (content) => ({
    id: `${messageId}:${count++}`,
    source,
    models_usage: null,
    metadata: {},
    created_at,
    content,
    full_message_id: shownId,
    type: "ModelClientStreamingChunkEvent",
  });
}

/** Identifies the chunks of one text, even where they carry no message id. */
export function streamedTextId(piece: ModelClientStreamingChunkEvent): string {
  const { full_message_id, id, source } = piece;
  if (full_message_id !== null) return full_message_id;
  const end = id.lastIndexOf(":");
  return end < 0 ? source : id.slice(0, end);
}

/** Maps a stream of chunks with `event` and passes on its return value. */
export async function* asEvents<Piece, Event, Result>(
  pieces: AsyncGenerator<Piece, Result, void>,
  event: (piece: Piece) => Event,
): AsyncGenerator<Event, Result, void> {
  try {
    let next = await pieces.next();
    while (!next.done) {
      yield event(next.value);
      next = await pieces.next();
    }
    return next.value;
  } finally {
    await endEarly(pieces);
  }
}
