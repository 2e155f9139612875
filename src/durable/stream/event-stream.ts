import { CAUGHT_UP_FRAME, eventFrame, isTerminal } from "./frames.ts";
import type { EventLog } from "../storage/event-log.ts";
import type { LiveFeed, LiveClient } from "./live-feed.ts";

/** Unread bytes of one client in memory, above which it is disconnected. */
const MOST_BEHIND_BYTES = 1_000_000;
/** Approximate size of one page of the log. */
const PAGE_BYTES = 64 * 1024;

export interface EventStreamOptions {
  log: EventLog;
  live: LiveFeed;
  /** The first frames. */
  opening: string;
  after: number;
  /** Whether the stream ends with its run or shows all runs of the team. */
  ofRun: boolean;
  /** Everything recorded was sent; live frames follow. */
  caughtUp(): void;
}

const encoder = new TextEncoder();

/**
 * The bytes of one client's stream. Recorded events are read as fast as the client takes them; after the last one it joins
 * the live feed in the same synchronous go, so that it gets each event exactly once.
 */
export class EventStream implements LiveClient {
  readonly body: ReadableStream<Uint8Array>;
  readonly ofRun: boolean;
  readonly #options: EventStreamOptions;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  #closed = false;
  #behind = 0;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.ofRun = options.ofRun;
    // Not a ReadableStream made in JavaScript: the runtime does not cancel that when the client leaves, whereas writes to
    // this one then fail.
    const { readable, writable } = new IdentityTransformStream();
    this.body = readable;
    this.#writer = writable.getWriter();
    this.#writer.closed.catch(() => this.#leave());
    this.#replay().catch((error: unknown) => {
      this.#leave();
      return this.#writer.abort(error);
    });
  }

  push(bytes: Uint8Array): void {
    if (this.#closed) return;
    // A client without unread bytes gets frames of any size: they would be as large when it comes back.
    if (this.#behind > 0 && this.#behind + bytes.length > MOST_BEHIND_BYTES) this.close();
    else void this.#write(bytes);
  }

  close(): void {
    if (this.#closed) return;
    this.#leave();
    this.#writer.close().catch(() => undefined); // The client has left already.
  }

  async #replay(): Promise<void> {
    const { log, live } = this.#options;
    let cursor = this.#options.after;
    let frames = this.#options.opening;
    for (;;) {
      const page = log.page(cursor, PAGE_BYTES);
      const end = this.ofRun ? page.findIndex(({ kind }) => isTerminal(kind)) : -1;
      const shown = end === -1 ? page : page.slice(0, end + 1);
      frames += shown.map(eventFrame).join("");
      cursor = page.at(-1)?.seq ?? log.last;
      if (end !== -1) {
        void this.#write(encoder.encode(frames));
        this.close();
        return;
      }
      if (cursor >= log.last) {
        live.join(this);
        void this.#write(encoder.encode(frames + CAUGHT_UP_FRAME + live.snapshots()));
        this.#options.caughtUp();
        return;
      }
      await this.#write(encoder.encode(frames));
      // The log of a deleted team must not be read: the object may hold another team by now.
      if (live.over) this.close();
      if (this.#closed) return;
      frames = "";
    }
  }

  async #write(bytes: Uint8Array): Promise<void> {
    this.#behind += bytes.length;
    try {
      await this.#writer.write(bytes);
      this.#behind -= bytes.length;
    } catch {
      this.#leave();
    }
  }

  #leave(): void {
    this.#closed = true;
    this.#options.live.leave(this);
  }
}
