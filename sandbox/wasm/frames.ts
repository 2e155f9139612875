// What parent and child say to each other: frames of a type, a length and that many bytes, on a pipe for each direction.

/** Bytes of a frame's head: one for the type, four for the length of what follows. */
export const HEAD_BYTES = 5;

/** Contents of files and outputs are cut into frames of at most this many bytes. */
export const CHUNK_BYTES = 256 * 1024;

export const FRAME = {
  /** child: is ready for work; `{ version }` */
  ready: 1,
  /** child: a piece of what a block printed */
  output: 2,
  /** both: a file begins, as `{ path, mode, size }`; its bytes follow in `data` frames */
  file: 3,
  data: 4,
  /** both: `{ path, target }` */
  link: 5,
  /** both: `{ path }` */
  directory: 6,
  /** both: `{ path }` and everything below it is gone */
  removed: 7,
  /** parent: all changes have been said; answered with `updated` */
  update: 8,
  updated: 9,
  /** parent: run a block, as a `BlockRequest` */
  run: 10,
  /** child: what became of it, as a `BlockReport`, after the changes it made */
  report: 11,
  /** child, when it makes a snapshot: a piece of it; ends with `ready` */
  snapshot: 12,
} as const;

export type FrameType = (typeof FRAME)[keyof typeof FRAME];

export interface BlockRequest {
  language: "python" | "shell";
  code: string;
  timeoutMs: number;
  memoryBytes: number;
  workspaceBytes: number;
  workspaceFiles: number;
}

export interface BlockReport {
  exitCode: number;
  endedBy?: "timeout" | "crashed";
  /** The child is not as it was before: it must not run another block. */
  spent: boolean;
}

/** A frame as it goes over the pipe. */
export function encodeFrame(type: FrameType, body: Uint8Array): Uint8Array {
  const frame = new Uint8Array(HEAD_BYTES + body.length);
  frame[0] = type;
  new DataView(frame.buffer).setUint32(1, body.length);
  frame.set(body, HEAD_BYTES);
  return frame;
}

/** A frame whose body is JSON. */
export function encodeJson(type: FrameType, value: unknown): Uint8Array {
  return encodeFrame(type, new TextEncoder().encode(JSON.stringify(value)));
}

export function decodeHead(head: Uint8Array): { type: number; length: number } {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  return { type: view.getUint8(0), length: view.getUint32(1) };
}

/** Puts frames together from the pieces a pipe gives, however small they are. */
export class FrameReader {
  readonly #limit: number;
  readonly #head = new Uint8Array(HEAD_BYTES);
  /** Of the frame that has begun, once its head is there. */
  #body: Uint8Array | undefined;
  /** What is there of the head, or of the body. */
  #filled = 0;

  /** @param limit bytes that a frame's body may have */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The frames that are complete with this piece. @throws Error when a frame is longer than the limit */
  *push(piece: Uint8Array): Generator<{ type: number; body: Uint8Array }> {
    for (let rest = piece; ;) {
      const target = this.#body ?? this.#head;
      const part = rest.subarray(0, target.length - this.#filled);
      target.set(part, this.#filled);
      this.#filled += part.length;
      if (this.#filled < target.length) return;
      rest = rest.subarray(part.length);
      this.#filled = 0;
      const { type, length } = decodeHead(this.#head);
      if (this.#body === undefined) {
        if (length > this.#limit) throw new Error(`a frame of ${length} bytes`);
        this.#body = new Uint8Array(length);
      } else {
        const body = this.#body;
        this.#body = undefined;
        yield { type, body };
      }
    }
  }
}
