/** Bytes before the frames of a batch: its mark, and the cursor. */
const HEADER_BYTES = 9;
/** The code with which an object closes a socket whose watcher is to continue over a new one. */
export const CONTINUE_CODE = 4000;
/** The watcher's side acknowledges a batch with this message. */
export const ACKNOWLEDGED = "ok";

/** Marks of a batch: an acknowledgement is wanted, or clients have the beginnings of texts. */
const WANTS_ACKNOWLEDGEMENT = 1;
const UNFINISHED = 2;

const encoder = new TextEncoder();

/** Frames that are sent together, with the cursor after them. Encoded once for all clients. */
export class Batch {
  /** As a socket carries it: a header, then the frames. */
  readonly message: Uint8Array<ArrayBuffer>;
  /** The cursor after the last recorded event that was sent. */
  readonly cursor: number;

  /** @param unfinished whether clients have the beginning of a text whose message has no event yet */
  constructor(text: string, cursor: number, unfinished = false) {
    const frames = encoder.encode(text);
    this.message = new Uint8Array(HEADER_BYTES + frames.length);
    this.message.set(frames, HEADER_BYTES);
    this.cursor = cursor;
    if (unfinished) this.message[0] = UNFINISHED;
    new DataView(this.message.buffer).setFloat64(1, cursor);
  }

  get frames(): Uint8Array {
    return this.message.subarray(HEADER_BYTES);
  }

  /** The message that asks for an acknowledgement. It is not sent to other clients. */
  get acknowledged(): Uint8Array<ArrayBuffer> {
    this.message[0] = WANTS_ACKNOWLEDGEMENT;
    return this.message;
  }
}

/** Reads the message of a batch. */
export function readBatch(message: ArrayBuffer): {
  frames: Uint8Array<ArrayBuffer>;
  cursor: number;
  wantsAcknowledgement: boolean;
  /** Undefined for one that wants an acknowledgement. */
  unfinished: boolean | undefined;
} {
  const view = new DataView(message);
  const mark = view.getUint8(0);
  return {
    frames: new Uint8Array(message, HEADER_BYTES),
    cursor: view.getFloat64(1),
    wantsAcknowledgement: mark === WANTS_ACKNOWLEDGEMENT,
    unfinished: mark === WANTS_ACKNOWLEDGEMENT ? undefined : mark === UNFINISHED,
  };
}

/** One client's connection to an object. */
export interface ClientConnection {
  readonly closed: boolean;
  /** Called once, when the client has disconnected or was disconnected. */
  onLeft: () => void;
  /** True if the object can be unloaded while the connection is open. */
  readonly hibernates: boolean;
  /** Sends a batch, or disconnects a client that is too far behind. */
  push(batch: Batch): void;
  /** Sends a batch however far the client is behind. Resolves when it has received it or has disconnected. */
  write(batch: Batch): Promise<void>;
  /** Sends pending bytes and ends the connection. */
  close(): void;
  /** Ends the connection with an error. */
  abort(error: unknown): Promise<void>;
}
