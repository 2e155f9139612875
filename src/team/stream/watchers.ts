import type { StreamClient } from "./stream-places.ts";
import { ACKNOWLEDGED } from "./batch.ts";
import { type Attachment, WatchSocket } from "./watch-socket.ts";

/** The tag of the sockets, which tells them from others of the object. */
const TAG = "watcher";

/** A watcher as its object finds it after it was unloaded. */
export interface RestoredWatcher<Subject> extends Attachment<Subject> {
  connection: WatchSocket<Subject>;
}

/**
 * The sockets of an object's watchers. The runtime keeps them while the object is unloaded (WebSocket Hibernation), so a
 * watcher costs no time of the object while nothing happens.
 */
export class Watchers<Subject> {
  readonly #ctx: DurableObjectState;
  /** By the name of the stream. */
  readonly #sockets = new Map<string, WatchSocket<Subject>>();

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
  }

  /** The watchers that were there when the object was unloaded. */
  restore(): RestoredWatcher<Subject>[] {
    return this.#ctx.getWebSockets(TAG).map((socket) => {
      const attachment = attachmentOf<Subject>(socket);
      return { ...attachment, connection: this.#hold(socket, attachment) };
    });
  }

  /** Makes the connection of a new watcher, and the other end of its socket. */
  accept(
    client: StreamClient,
    subject: Subject,
  ): {
    connection: WatchSocket<Subject>;
    end: WebSocket;
  } {
    const { 0: end, 1: socket } = new WebSocketPair();
    const attachment: Attachment<Subject> = { client, subject, cursor: null };
    this.#ctx.acceptWebSocket(socket, [TAG]);
    socket.serializeAttachment(attachment);
    return { connection: this.#hold(socket, attachment), end };
  }

  message(socket: WebSocket, message: string | ArrayBuffer): void {
    if (message === ACKNOWLEDGED) this.#of(socket)?.acknowledge();
  }

  /** A socket of the object was closed, maybe one of another kind. */
  closed(socket: WebSocket): void {
    if (!this.#ctx.getTags(socket).includes(TAG)) return;
    this.#of(socket)?.leave();
    this.#sockets.delete(attachmentOf<Subject>(socket).client.stream);
  }

  #of(socket: WebSocket): WatchSocket<Subject> | undefined {
    return this.#sockets.get(attachmentOf<Subject>(socket).client.stream);
  }

  #hold(socket: WebSocket, attachment: Attachment<Subject>): WatchSocket<Subject> {
    const held = new WatchSocket(socket, attachment);
    this.#sockets.set(attachment.client.stream, held);
    return held;
  }
}

function attachmentOf<Subject>(socket: WebSocket): Attachment<Subject> {
  return socket.deserializeAttachment() as Attachment<Subject>;
}
