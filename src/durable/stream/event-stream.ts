import type { JsonObject } from "../../core/json.ts";
import { ClientStream } from "./client-stream.ts";
import { type FrameWriter, isTerminal, type LiveFrame } from "./frames.ts";
import type { EventLog } from "../storage/event-log.ts";
import type { StoredRun } from "../storage/runs/run-store.ts";
import type { StreamClient } from "./stream-places.ts";
import type { LiveFeed, LiveClient } from "./live-feed.ts";

/** Approximate size of one page of the log. */
const PAGE_BYTES = 64 * 1024;

export interface EventStreamOptions {
  log: EventLog;
  live: LiveFeed;
  writer: FrameWriter;
  client: StreamClient;
  /** The first frame; none in a team without a run. */
  opening: LiveFrame | undefined;
  after: number;
  /** The run that the stream shows and ends with; null for all runs of the team. */
  run: StoredRun | null;
  /** What the team shows of its state as of its last turn. */
  visibleState: () => JsonObject;
  /** Everything recorded was sent; live frames follow. */
  caughtUp(): void;
}

const CAUGHT_UP = { event: "caught_up", data: {} } as const;

const encoder = new TextEncoder();

/**
 * The bytes of one client's stream. Recorded events are read as fast as the client takes them; after the last one it joins
 * the live feed in the same synchronous go, so that it gets each event exactly once.
 */
export class EventStream implements LiveClient {
  readonly run: string | null;
  readonly writer: FrameWriter;
  readonly client: StreamClient;
  readonly #options: EventStreamOptions;
  readonly #stream: ClientStream;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.run = options.run?.record.id ?? null;
    this.writer = options.writer;
    this.client = options.client;
    this.#stream = new ClientStream(() => options.live.leave(this));
    options.live.enter(this);
    this.#replay().catch((error: unknown) => this.#stream.abort(error));
  }

  get body(): ReadableStream<Uint8Array> {
    return this.#stream.body;
  }

  push(bytes: Uint8Array): void {
    this.#stream.push(bytes);
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
      void this.#stream.write(encoder.encode(frames + writer.live(CAUGHT_UP)));
      this.#options.caughtUp();
      return;
    }
    for (;;) {
      const page = log.page(cursor, PAGE_BYTES);
      // The cancellation of a queued run may stand among the events of the active one.
      const own = run === null ? page : page.filter((event) => event.run === run.seq);
      const end = run === null ? -1 : own.findIndex(({ kind }) => isTerminal(kind));
      const shown = end === -1 ? own : own.slice(0, end + 1);
      frames += shown.map((event) => writer.recorded(event)).join("");
      cursor = page.at(-1)?.seq ?? log.last;
      if (end !== -1 || writer.ended) {
        void this.#stream.write(encoder.encode(frames));
        this.close();
        return;
      }
      if (cursor >= log.last) {
        // Turns may have ended while the log was read.
        frames += state() + writer.live(CAUGHT_UP) + live.snapshots(writer);
        live.join(this, frames);
        // It ends with its first frames.
        if (writer.ended) live.flush();
        this.#options.caughtUp();
        return;
      }
      await this.#stream.write(encoder.encode(frames));
      // The log of a deleted team must not be read: the object may hold another team by now.
      if (live.over) this.close();
      if (this.#stream.closed) return;
      frames = "";
    }
  }
}
