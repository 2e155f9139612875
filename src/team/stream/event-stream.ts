import type { JsonObject } from "../../core/json.ts";
import { Batch, type ClientConnection } from "./batch.ts";
import { type FrameWriter, isTerminal, type LiveFrame } from "./frames.ts";
import type { EventLog } from "../storage/log/event-log.ts";
import type { StoredRun } from "../storage/runs/run-record.ts";
import type { StreamClient } from "./stream-places.ts";
import type { LiveFeed, LiveClient } from "./live-feed.ts";

/** Unread bytes of one client in memory, above which it is disconnected. */
const MOST_BEHIND_BYTES = 1_000_000;

/**
 * The bytes of one client's stream. A client that is too far behind is disconnected and can reconnect with its cursor.
 */
export class ClientStream implements ClientConnection {
  readonly hibernates = false;
  readonly body: ReadableStream<Uint8Array>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  onLeft: () => void = () => undefined;
  #closed = false;
  #behind = 0;

  constructor() {
    // Not a ReadableStream made in JavaScript: the runtime does not cancel that when the client leaves, whereas writes to
    // this one then fail.
    const { readable, writable } = new IdentityTransformStream();
    this.body = readable;
    this.#writer = writable.getWriter();
    this.#writer.closed.catch(() => this.#leave());
  }

  get closed(): boolean {
    return this.#closed;
  }

  push(batch: Batch): void {
    if (this.#closed) return;
    // A client without unread bytes gets frames of any size: they would be as large when it comes back.
    if (this.#behind > 0 && this.#behind + batch.frames.length > MOST_BEHIND_BYTES) this.close();
    else void this.write(batch);
  }

  async write({ frames }: Batch): Promise<void> {
    this.#behind += frames.length;
    try {
      await this.#writer.write(frames);
      this.#behind -= frames.length;
    } catch {
      this.#leave();
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#leave();
    this.#writer.close().catch(() => undefined); // The client has disconnected already.
  }

  async abort(error: unknown): Promise<void> {
    this.#leave();
    await this.#writer.abort(error);
  }

  #leave(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.onLeft();
  }
}

/** Approximate size of one page of the log. */
export const PAGE_BYTES = 64 * 1024;

export interface EventStreamOptions {
  log: EventLog;
  live: LiveFeed;
  writer: FrameWriter;
  client: StreamClient;
  connection: ClientConnection;
  /** The first frame; undefined for a team without a run. */
  opening: LiveFrame | undefined;
  after: number;
  /** The run that the stream shows and with which it ends; null for all runs of the team. */
  run: StoredRun | null;
  /** The active run once everything recorded was sent. */
  now: () => RunNow;
  /** The team's visible state as of its last turn. */
  visibleState: () => JsonObject;
}

/** The steps under way, undefined for none, and the status of a run that needs a client to continue. */
export interface RunNow {
  activity?: LiveFrame | undefined;
  idle?: "waiting" | "paused" | undefined;
}

const CAUGHT_UP = { event: "caught_up", data: {} } as const;

/** Sends a stream its events from now on. */
export function streamEvents(options: EventStreamOptions): void {
  new EventStream(options).start();
}

/**
 * The events of one client's stream. Recorded events are read as fast as the client takes them. After the last one, the
 * client joins the live feed in the same synchronous step, so that it gets each event exactly once.
 */
class EventStream implements LiveClient {
  readonly run: string | null;
  readonly writer: FrameWriter;
  readonly client: StreamClient;
  readonly hibernates: boolean;
  readonly #options: EventStreamOptions;
  readonly #stream: ClientConnection;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.run = options.run?.record.id ?? null;
    this.writer = options.writer;
    this.client = options.client;
    this.#stream = options.connection;
    this.hibernates = this.#stream.hibernates;
  }

  start(): void {
    const { live } = this.#options;
    this.#stream.onLeft = () => live.leave(this);
    live.enter(this);
    this.#replay().catch((error: unknown) => this.#stream.abort(error));
  }

  push(batch: Batch): void {
    this.#stream.push(batch);
  }

  close(): void {
    this.#stream.close();
  }

  async #replay(): Promise<void> {
    const { log, live, run, writer, opening } = this.#options;
    let cursor = this.#options.after;
    const state = (): string => writer.visibleState?.(this.#options.visibleState()) ?? "";
    let frames = state() + (opening === undefined ? "" : writer.live(opening));
    if (run?.record.status === "queued") {
      live.joinQueued(this);
      this.#stream.push(new Batch(frames + writer.live(CAUGHT_UP), cursor));
      this.#becomeIdle(this.#options.now());
      return;
    }
    for (;;) {
      const { last } = log;
      const page = cursor < last ? log.page(cursor, PAGE_BYTES) : [];
      // The cancellation of a queued run may stand among the events of the active one.
      const own = run === null ? page : page.filter((event) => event.run === run.seq);
      const end = run === null ? -1 : own.findIndex(({ kind }) => isTerminal(kind));
      const visible = end === -1 ? own : own.slice(0, end + 1);
      frames += visible.map((event) => writer.recorded(event)).join("");
      cursor = page.at(-1)?.seq ?? last;
      if (end !== -1 || writer.ended) {
        void this.#stream.write(new Batch(frames, cursor));
        this.close();
        return;
      }
      if (cursor >= last) {
        // Turns may have ended while the log was read.
        frames += state() + writer.live(CAUGHT_UP) + live.snapshots(writer);
        const now = this.#options.now();
        if (now.activity !== undefined) frames += writer.live(now.activity);
        live.join(this, frames);
        // This stream ends with its first frames.
        if (writer.ended) live.flush();
        this.#becomeIdle(now);
        return;
      }
      await this.#stream.write(new Batch(frames, cursor));
      // The log of a deleted team must not be read: the object may hold another team by now.
      if (live.over) this.close();
      if (this.#stream.closed) return;
      frames = "";
    }
  }

  #becomeIdle({ idle }: RunNow): void {
    if (idle !== undefined) this.#options.live.becomeIdle(idle);
  }
}
