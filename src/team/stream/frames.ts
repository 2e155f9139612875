import { type LoginSight, withLogin } from "../../contract/gateways/login-sight.ts";
import type { StreamEncoder } from "../../contract/stream/stream-format.ts";
import type { StreamFrame } from "../../contract/stream/stream-frame.ts";
import type { TextPieces } from "../../contract/stream/text-pieces.ts";
import type { JsonObject } from "../../core/json.ts";
import type { ModelClientStreamingChunkEvent } from "../../core/messages/agent-events.ts";
import type { EventKind, RecordedEvent } from "../storage/log/event-log.ts";
import type { QuestionStore } from "../storage/runs/question-store.ts";
import type { PieceFrames } from "./piece-frames.ts";
import type { JoinedPiece } from "./texts-in-progress.ts";

/** A comment, which exists in all formats. */
export const PING_FRAME = ": ping\n\n";

/** Frames that are not recorded, except pieces of text. */
export type LiveFrame = Extract<
  StreamFrame,
  { event: "run" | "caught_up" | "snapshot" | "discard" | "retrying" | "activity" | "turn" }
>;

/** Writes the frames of streams in one format. */
export interface FrameWriter {
  recorded(event: RecordedEvent): string;
  /** Encodes a piece as the model gave it. @param frames the native frames of the piece's text */
  piece(piece: ModelClientStreamingChunkEvent, frames: PieceFrames): string;
  /** Encodes several consecutive pieces as one. */
  joined(piece: JoinedPiece): string;
  /** @param pieces the pieces of a snapshot's text */
  live(frame: LiveFrame, pieces?: TextPieces): string;
  /** The team's visible state. Left out where streams in this format do not show it. */
  visibleState?: ((state: JsonObject) => string) | undefined;
  /** True if streams in this format end here. */
  readonly ended: boolean;
  /** True for the frames of docs/http-api.md. */
  readonly isNative?: boolean | undefined;
}

/** The logins whose addresses a client may be given, and the questions that have them. */
export interface VisibleLogins {
  sees: LoginSight;
  questions: () => Pick<QuestionStore, "open"> | undefined;
}

/** Names of frames about the service; items of the run are unnamed. */
const EVENT_NAMES: Record<EventKind, "retract" | "failed" | "run" | "memory" | undefined> = {
  message: undefined,
  quiet: undefined,
  again: undefined,
  result: undefined,
  retract: "retract",
  failed: "failed",
  cancelled: "run",
  memory: "memory",
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
  joined: () => "",
  live: ({ event, data }) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`,
  ended: false,
  isNative: true,
};

/** The frames of one client's stream in the format of a protocol. */
export class EncodedFrames implements FrameWriter {
  readonly #encoder: StreamEncoder;
  readonly #logins: VisibleLogins | undefined;
  readonly #onError: (error: unknown) => void;
  #failed = false;
  readonly visibleState: FrameWriter["visibleState"];

  /** @param onError called with the encoder's error, which ends the stream @param logins undefined for a client that sees none */
  constructor(encoder: StreamEncoder, onError: (error: unknown) => void, logins?: VisibleLogins) {
    this.#encoder = encoder;
    this.#logins = logins;
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

  joined({ piece, pieces }: JoinedPiece): string {
    return this.#encode({ event: "message", data: piece }, pieces);
  }

  live(frame: LiveFrame, pieces?: TextPieces): string {
    return this.#encode(this.#logins ? withAddresses(frame, this.#logins) : frame, pieces);
  }

  #encode(frame: StreamFrame, pieces?: TextPieces): string {
    return this.#written(() => this.#encoder.encode(frame, pieces));
  }

  #written(write: () => string): string {
    if (this.ended) return "";
    try {
      return write();
    } catch (error) {
      // The run writes frames while it continues, so an encoder's error must not reach it.
      this.#failed = true;
      this.#onError(error);
      return "";
    }
  }
}

/** The native frames for clients that may see these logins. */
export function nativeFramesShowing(logins: VisibleLogins): FrameWriter {
  return { ...nativeFrames, live: (frame) => nativeFrames.live(withAddresses(frame, logins)) };
}

/** A frame with the addresses of the logins that its client may have. */
function withAddresses(frame: LiveFrame, { sees, questions }: VisibleLogins): LiveFrame {
  if (frame.event !== "run" || !frame.data.requests.some(({ login }) => login)) return frame;
  const { data } = frame;
  const open = questions()?.open(data.id) ?? [];
  const requests = data.requests.map((request) => {
    const asked = open.find(({ question }) => question.id === request.id);
    return withLogin(request, asked?.question.login, sees);
  });
  return { event: "run", data: { ...data, requests } };
}

/** True if the stream of a run ends with this event. */
export function isTerminal(kind: EventKind): boolean {
  return kind === "result" || kind === "failed" || kind === "cancelled";
}
