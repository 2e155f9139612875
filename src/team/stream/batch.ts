/** Bytes before the frames of a batch: whether an acknowledgement is wanted, and the cursor. */
const HEADER_BYTES = 9;
/** The code with which an object closes a socket whose watcher is to continue over a new one. */
export const CONTINUE_CODE = 4000;
/** The watcher's side acknowledges a batch with this message. */
export const ACKNOWLEDGED = "ok";

const encoder = new TextEncoder();

/** Frames that are sent together, with the cursor after them. Encoded once for all clients. */
export class Batch {
  /** As a socket carries it: a header, then the frames. */
  readonly message: Uint8Array<ArrayBuffer>;
  /** The cursor after the last recorded event that was sent. */
  readonly cursor: number;

  constructor(text: string, cursor: number) {
    const frames = encoder.encode(text);
    this.message = new Uint8Array(HEADER_BYTES + frames.length);
    this.message.set(frames, HEADER_BYTES);
    this.cursor = cursor;
    new DataView(this.message.buffer).setFloat64(1, cursor);
  }

  get frames(): Uint8Array {
    return this.message.subarray(HEADER_BYTES);
  }

  /** The message that asks for an acknowledgement. It is not sent to other clients. */
  get acknowledged(): Uint8Array<ArrayBuffer> {
    this.message[0] = 1;
    return this.message;
  }
}

/** Reads the message of a batch. */
export function readBatch(message: ArrayBuffer): {
  frames: Uint8Array<ArrayBuffer>;
  cursor: number;
  wantsAcknowledgement: boolean;
} {
  const view = new DataView(message);
  return {
    frames: new Uint8Array(message, HEADER_BYTES),
    cursor: view.getFloat64(1),
    wantsAcknowledgement: view.getUint8(0) === 1,
  };
}

/** One client's connection to an object. */
export interface ClientConnection {
  readonly closed: boolean;
  /** Called once, when the client has disconnected or was disconnected. */
  onLeft: () => void;
  /** Whether the object can be unloaded while the connection is open. */
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
