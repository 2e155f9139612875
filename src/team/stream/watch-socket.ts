import type { StreamClient } from "./stream-places.ts";
import { type Batch, CONTINUE_CODE, type ClientConnection } from "./batch.ts";

/** The data of a socket that an object keeps while it is unloaded. */
export interface Attachment<Subject> {
  client: StreamClient;
  /** The run or the team whose events are sent. */
  subject: Subject;
  /** The cursor after the last recorded event that was sent; null while recorded events are being read. */
  cursor: number | null;
}

/**
 * The object's end of a watcher's socket. The runtime keeps the socket while the object is unloaded; its attachment says
 * where it continues.
 */
export class WatchSocket<Subject> implements ClientConnection {
  readonly hibernates = true;
  readonly #socket: WebSocket;
  readonly #attachment: Attachment<Subject>;
  onLeft: () => void = () => undefined;
  #closed = false;
  #acknowledged: (() => void) | undefined;

  constructor(socket: WebSocket, attachment: Attachment<Subject>) {
    this.#socket = socket;
    this.#attachment = attachment;
  }

  get closed(): boolean {
    return this.#closed;
  }

  push(batch: Batch): void {
    if (this.#closed) return;
    this.#send(batch.message);
    if (this.#attachment.cursor !== batch.cursor) this.#remember(batch.cursor);
  }

  async write(batch: Batch): Promise<void> {
    if (this.#closed) return;
    const acknowledged = new Promise<void>((resolve) => {
      this.#acknowledged = resolve;
    });
    this.#send(batch.acknowledged);
    await acknowledged;
  }

  /** The watcher's side has passed on the last batch. */
  acknowledge(): void {
    this.#acknowledged?.();
    this.#acknowledged = undefined;
  }

  close(): void {
    this.#end(1000);
  }

  /** Asks the watcher's side to continue over a new socket. */
  continueElsewhere(): void {
    this.#end(CONTINUE_CODE);
  }

  abort(): Promise<void> {
    this.#end(1011);
    return Promise.resolve();
  }

  /** The socket was closed from the other end. */
  leave(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.acknowledge();
    this.onLeft();
  }

  #send(message: Uint8Array<ArrayBuffer>): void {
    try {
      this.#socket.send(message);
    } catch {
      // The other end has closed it, or the message is too large for a socket.
      this.#end(1011);
    }
  }

  #remember(cursor: number): void {
    this.#attachment.cursor = cursor;
    this.#socket.serializeAttachment(this.#attachment);
  }

  #end(code: number): void {
    if (this.#closed) return;
    this.leave();
    this.#socket.close(code);
  }
}
