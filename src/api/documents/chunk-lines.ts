import type { DocumentChunk } from "../../contract/gateways/memory-gateway.ts";

/** Bytes that are passed on at a time. */
const PIECE_BYTES = 65_536;

const encoder = new TextEncoder();

/** Chunks as lines of JSON, as the collection's object reads them. They are kept as bytes, which are not part of the heap. */
export class ChunkLines {
  #pieces: Uint8Array[] = [];
  #waiting: string[] = [];
  #length = 0;

  add(chunk: DocumentChunk): void {
    const line = `${JSON.stringify(chunk)}\n`;
    this.#waiting.push(line);
    this.#length += line.length;
    if (this.#length >= PIECE_BYTES) this.#encode();
  }

  /** All of them, once. */
  stream(): ReadableStream<Uint8Array> {
    this.#encode();
    const pieces = this.#pieces.values();
    return new ReadableStream({
      type: "bytes",
      pull(controller) {
        const { value, done } = pieces.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    });
  }

  #encode(): void {
    if (this.#length > 0) this.#pieces.push(encoder.encode(this.#waiting.join("")));
    this.#waiting = [];
    this.#length = 0;
  }
}
