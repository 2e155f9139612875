// The protocol between parent and child: frames of a type, a length and that many bytes, on a pipe for each direction.

/** Bytes of a frame's head: one for the type, four for the length of the body. */
export const HEAD_BYTES = 5;

/** Largest body of a frame with a piece of a file or of output. */
export const CHUNK_BYTES = 256 * 1024;

export const FRAME = {
  /** child: ready for work; `{ python }` */
  ready: 1,
  /** child: output of a block */
  output: 2,
  /** both: start of a file, `{ path, mode, size }`; its bytes follow in `data` frames */
  file: 3,
  data: 4,
  /** both: `{ path, target }` */
  link: 5,
  /** both: `{ path }` */
  directory: 6,
  /** both: `{ path }` was removed with everything below it */
  removed: 7,
  /** parent: end of the changes; answered with `updated` */
  update: 8,
  updated: 9,
  /** parent: run a block, as a `BlockRequest` */
  run: 10,
  /** child: the result of the block, as a `BlockReport`, after the changes it made */
  report: 11,
  /** child: a piece of the snapshot it makes; ends with `ready` */
  snapshot: 12,
  /** parent: the changes before it are all folders, which code cannot change; answered with `updated` */
  folders: 13,
} as const;

export type FrameType = (typeof FRAME)[keyof typeof FRAME];

export interface BlockRequest {
  language: "python" | "shell";
  code: string;
  /** Environment variables, in addition to what all code has. */
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
  memoryBytes: number;
  workspaceBytes: number;
  workspaceFiles: number;
}

export interface BlockReport {
  exitCode: number;
  endedBy?: "timeout" | "crashed";
  /** The child cannot be restored: it must not run another block. */
  spent: boolean;
}

/** Encodes a frame. */
export function encodeFrame(type: FrameType, body: Uint8Array): Uint8Array {
  const frame = new Uint8Array(HEAD_BYTES + body.length);
  frame[0] = type;
  new DataView(frame.buffer).setUint32(1, body.length);
  frame.set(body, HEAD_BYTES);
  return frame;
}

/** Encodes a frame with a JSON body. */
export function encodeJson(type: FrameType, value: unknown): Uint8Array {
  return encodeFrame(type, new TextEncoder().encode(JSON.stringify(value)));
}

export function decodeHead(head: Uint8Array): { type: number; length: number } {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  return { type: view.getUint8(0), length: view.getUint32(1) };
}

/** Decodes frames from the pieces that a pipe delivers, however small they are. */
export class FrameReader {
  readonly #limit: number;
  readonly #head = new Uint8Array(HEAD_BYTES);
  /** The body of the current frame, once its head is complete. */
  #body: Uint8Array | undefined;
  /** Bytes of the head, or of the body, so far. */
  #filled = 0;

  /** @param limit bytes of the largest body */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The frames that this piece completes. @throws Error when a frame is longer than the limit */
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
