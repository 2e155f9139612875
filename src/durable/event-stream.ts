import { CAUGHT_UP_FRAME, eventFrame, isTerminal } from "./frames.ts";
import type { EventLog } from "./event-log.ts";
import type { Live, LiveClient } from "./live.ts";

/** What waits in memory for one reader before it is asked to come back. */
const MOST_BEHIND_BYTES = 1_000_000;
/** Bytes prepared ahead of the reader, and about what one page of the log has. */
const AHEAD_BYTES = 64 * 1024;

export interface EventStreamOptions {
  log: EventLog;
  live: Live;
  /** Frames that come first. */
  opening: string;
  after: number;
  /** Whether the stream ends with its run, or shows the life of the team. */
  ofRun: boolean;
  /** Everything recorded was sent; what follows is live. */
  caughtUp(): void;
}

const encoder = new TextEncoder();

/**
 * The bytes of one client's stream. Recorded events are read as fast as the client takes them; when none is left it
 * joins the live ones in the same synchronous go, so that nothing comes twice or is missed.
 */
export class EventStream implements LiveClient {
  readonly body: ReadableStream<Uint8Array>;
  readonly ofRun: boolean;
  readonly #options: EventStreamOptions;
  #cursor: number;
  #state: "replaying" | "live" | "closed" = "replaying";
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#cursor = options.after;
    this.ofRun = options.ofRun;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          if (options.opening !== "") controller.enqueue(encoder.encode(options.opening));
        },
        pull: () => {
          if (this.#state === "replaying") this.#replay();
        },
        cancel: () => this.#leave(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: AHEAD_BYTES }),
    );
  }

  push(bytes: Uint8Array): void {
    const controller = this.#controller;
    if (controller === undefined || this.#state === "closed") return;
    if (AHEAD_BYTES - (controller.desiredSize ?? 0) + bytes.length > MOST_BEHIND_BYTES) {
      this.close();
      return;
    }
    controller.enqueue(bytes);
  }

  close(): void {
    if (this.#state === "closed") return;
    this.#leave();
    this.#controller?.close();
  }

  #replay(): void {
    const { log, live } = this.#options;
    const page = log.page(this.#cursor, AHEAD_BYTES);
    const last = page.at(-1);
    if (last !== undefined) this.#cursor = last.seq;
    const end = this.ofRun ? page.findIndex(({ kind }) => isTerminal(kind)) : -1;
    if (end !== -1) {
      this.#enqueue(
        page
          .slice(0, end + 1)
          .map(eventFrame)
          .join(""),
      );
      this.close();
    } else if (this.#cursor < log.last && last !== undefined) {
      this.#enqueue(page.map(eventFrame).join(""));
    } else {
      live.join(this);
      this.#state = "live";
      const frames = page.map(eventFrame).join("");
      this.#enqueue(frames + CAUGHT_UP_FRAME + live.snapshots());
      this.#options.caughtUp();
    }
  }

  #enqueue(frames: string): void {
    if (frames !== "") this.#controller?.enqueue(encoder.encode(frames));
  }

  #leave(): void {
    this.#state = "closed";
    this.#options.live.leave(this);
  }
}
