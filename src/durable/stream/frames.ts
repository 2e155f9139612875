import type { StreamEncoder } from "../../contract/stream/stream-format.ts";
import type { StreamFrame } from "../../contract/stream/stream-frame.ts";
import type { JsonObject } from "../../core/json.ts";
import type { ModelClientStreamingChunkEvent } from "../../core/messages/agent-events.ts";
import type { EventKind, RecordedEvent } from "../storage/event-log.ts";

/** A comment: all formats have it. */
export const PING_FRAME = ": ping\n\n";

/** Frames that are not recorded, but for pieces of text. */
export type LiveFrame = Extract<
  StreamFrame,
  { event: "run" | "caught_up" | "snapshot" | "discard" | "retrying" }
>;

/** Writes the frames of streams in one format. */
export interface FrameWriter {
  recorded(event: RecordedEvent): string;
  /** @param frames the native ones of the piece's text */
  piece(piece: ModelClientStreamingChunkEvent, frames: PieceFrames): string;
  /** The frame of pieces that were held back because more may follow. Called before frames are sent. */
  held(): string;
  live(frame: LiveFrame): string;
  /** What the team shows of its state. Left out where streams in this format do not tell it. */
  visibleState?: ((state: JsonObject) => string) | undefined;
  /** Asks clients to wait a while before they reconnect: a human takes longer. */
  readonly retry: string;
  /** Whether streams in this format end here. */
  readonly ended: boolean;
}

/** Names of frames about the service; items of the run are unnamed. */
const EVENT_NAMES: Record<EventKind, "retract" | "failed" | "run" | undefined> = {
  message: undefined,
  quiet: undefined,
  again: undefined,
  result: undefined,
  retract: "retract",
  failed: "failed",
  cancelled: "run",
};

/** The frames of docs/http-api.md. */
export const nativeFrames: FrameWriter = {
  recorded({ seq, kind, body }) {
    const name = EVENT_NAMES[kind];
    // `body` is JSON text, which has no line breaks.
    return name === undefined
      ? `id: ${seq}\ndata: ${body}\n\n`
      : `event: ${name}\nid: ${seq}\ndata: ${body}\n\n`;
  },
  piece: (piece, frames) => frames.write(piece),
  held: () => "",
  live: ({ event, data }) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`,
  retry: "retry: 15000\n\n",
  ended: false,
};

/** The text whose pieces come at the moment. */
interface CurrentText {
  /** Its first one. */
  piece: ModelClientStreamingChunkEvent;
  pieces: number;
  /** What is not told yet. */
  held: string;
}

/** So many pieces of a text are told one by one, as the model gave them. Later ones that are sent together become one. */
const PIECES_APART = 32;

/** The frames of one client's stream in the format of a protocol. */
export class EncodedFrames implements FrameWriter {
  readonly #encoder: StreamEncoder;
  readonly #onError: (error: unknown) => void;
  #failed = false;
  #text: CurrentText | undefined;
  readonly retry = "";
  readonly visibleState: FrameWriter["visibleState"];

  /** @param onError is told why the stream ends when the encoder throws */
  constructor(encoder: StreamEncoder, onError: (error: unknown) => void) {
    this.#encoder = encoder;
    this.#onError = onError;
    if (encoder.visibleState) {
      this.visibleState = (state) => this.#written(() => encoder.visibleState?.(state) ?? "");
    }
  }

  get ended(): boolean {
    return this.#failed || this.#encoder.ended;
  }

  recorded({ seq, kind, body }: RecordedEvent): string {
    const event = EVENT_NAMES[kind] ?? "message";
    return this.#encode({ event, id: String(seq), data: JSON.parse(body) });
  }

  piece(piece: ModelClientStreamingChunkEvent): string {
    let before = "";
    let text = this.#text;
    if (
      text?.piece.full_message_id !== piece.full_message_id ||
      text.piece.source !== piece.source
    ) {
      before = this.held();
      text = { piece, pieces: 0, held: "" };
      this.#text = text;
    }
    if (++text.pieces <= PIECES_APART) return before + this.#encode(pieceFrame(piece));
    text.held += piece.content;
    return before;
  }

  held(): string {
    const text = this.#text;
    if (text === undefined || text.held === "") return "";
    const piece = { ...text.piece, content: text.held };
    text.held = "";
    return this.#encode(pieceFrame(piece));
  }

  live(frame: LiveFrame): string {
    return this.#encode(frame);
  }

  #encode(frame: StreamFrame): string {
    return this.#written(() => this.#encoder.encode(frame));
  }

  #written(write: () => string): string {
    const before = this.held();
    if (this.ended) return before;
    try {
      return before + write();
    } catch (error) {
      // Frames are written while the run goes on, which must not depend on those who watch it.
      this.#failed = true;
      this.#onError(error);
      return before;
    }
  }
}

function pieceFrame(data: ModelClientStreamingChunkEvent): StreamFrame {
  return { event: "message", data };
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

/** Whether the stream of a run ends with this event. */
export function isTerminal(kind: EventKind): boolean {
  return kind === "result" || kind === "failed" || kind === "cancelled";
}
