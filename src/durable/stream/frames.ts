import type { StreamEncoder } from "../../contract/stream/stream-format.ts";
import type { StreamFrame } from "../../contract/stream/stream-frame.ts";
import type { TextPieces } from "../../contract/stream/text-pieces.ts";
import type { JsonObject } from "../../core/json.ts";
import type { ModelClientStreamingChunkEvent } from "../../core/messages/agent-events.ts";
import type { EventKind, RecordedEvent } from "../storage/event-log.ts";
import type { PieceFrames } from "./piece-frames.ts";
import type { ToldPiece } from "./texts-in-progress.ts";

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
  /** A piece as the model gave it. @param frames the native ones of the piece's text */
  piece(piece: ModelClientStreamingChunkEvent, frames: PieceFrames): string;
  /** The same, or several of them as one. */
  told(told: ToldPiece): string;
  /** @param pieces of a snapshot's text */
  live(frame: LiveFrame, pieces?: TextPieces): string;
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
  told: () => "",
  live: ({ event, data }) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`,
  retry: "retry: 15000\n\n",
  ended: false,
};

/** The frames of one client's stream in the format of a protocol. */
export class EncodedFrames implements FrameWriter {
  readonly #encoder: StreamEncoder;
  readonly #onError: (error: unknown) => void;
  #failed = false;
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

  recorded({ seq, kind, body, pieces }: RecordedEvent): string {
    const event = EVENT_NAMES[kind] ?? "message";
    return this.#encode({ event, id: String(seq), data: JSON.parse(body) }, pieces);
  }

  piece(): string {
    return "";
  }

  told({ piece, pieces }: ToldPiece): string {
    return this.#encode({ event: "message", data: piece }, pieces);
  }

  live(frame: LiveFrame, pieces?: TextPieces): string {
    return this.#encode(frame, pieces);
  }

  #encode(frame: StreamFrame, pieces?: TextPieces): string {
    return this.#written(() => this.#encoder.encode(frame, pieces));
  }

  #written(write: () => string): string {
    if (this.ended) return "";
    try {
      return write();
    } catch (error) {
      // Frames are written while the run goes on, which must not depend on those who watch it.
      this.#failed = true;
      this.#onError(error);
      return "";
    }
  }
}

/** Whether the stream of a run ends with this event. */
export function isTerminal(kind: EventKind): boolean {
  return kind === "result" || kind === "failed" || kind === "cancelled";
}
