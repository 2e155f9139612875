import type { ModelClientStreamingChunkEvent } from "../core/messages/agent-events.ts";
import type { Message } from "../core/messages/message.ts";
import type { RecordedEvent } from "./event-log.ts";
import { eventFrame, liveFrame, namedFrame, PING_FRAME, RETRY_FRAME } from "./frames.ts";

const PING_MS = 15_000;

/** Somebody who is connected and has seen everything recorded. Must not throw and must not wait. */
export interface LiveClient {
  /** Whether it came for one run. */
  readonly ofRun: boolean;
  push(bytes: Uint8Array): void;
  /** Sends what is queued and ends the connection. */
  close(): void;
}

interface TextInProgress {
  source: string;
  content: string;
}

/** Frames of so many characters do not wait for others. */
const FLUSH_LENGTH = 16 * 1024;

const encoder = new TextEncoder();

/**
 * What is happening now, for whoever watches. Frames that arise in one go of the event loop leave together, encoded
 * once for all clients; nothing here is stored.
 */
export class Live {
  readonly #clients = new Set<LiveClient>();
  readonly #texts = new Map<string, TextInProgress>();
  #pending = "";
  #flushing = false;
  #ping: ReturnType<typeof setInterval> | undefined;
  #rest: ReturnType<typeof setTimeout> | undefined;
  readonly #restMs: number;
  /** Whether there will never be anything any more: the team is deleted. */
  over = false;

  /** @param restMs how long connections stay open once nothing happens any more until a human acts */
  constructor(restMs: number) {
    this.#restMs = restMs;
  }

  get connected(): number {
    return this.#clients.size;
  }

  send(frame: string): void {
    if (this.#clients.size === 0) return;
    this.#pending += frame;
    // Timers do not run while data keeps coming in; without this a client would see nothing before the end of a burst.
    if (this.#pending.length >= FLUSH_LENGTH) this.flush();
    if (this.#flushing) return;
    this.#flushing = true;
    setTimeout(() => {
      this.#flushing = false;
      this.flush();
    }, 0);
  }

  /** A message ends the text that led to it. @param event unless it had been recorded, and sent, before */
  message({ id, source }: Message, event: RecordedEvent | undefined): void {
    if (this.#texts.size > 0) {
      this.#texts.delete(id);
      for (const [textId, text] of this.#texts) {
        if (text.source === source) this.#texts.delete(textId);
      }
    }
    if (event !== undefined && event.kind !== "quiet") this.event(event);
  }

  event(event: RecordedEvent): void {
    if (this.#clients.size > 0) this.send(eventFrame(event));
  }

  chunk(event: ModelClientStreamingChunkEvent): void {
    const { full_message_id: id, source, content } = event;
    if (id !== null) {
      const text = this.#texts.get(id);
      if (text) text.content += content;
      else this.#texts.set(id, { source, content });
    }
    if (this.#clients.size > 0) this.send(liveFrame(event));
  }

  /** The text shown of a message is void. */
  discard(id: string): void {
    if (this.#texts.delete(id)) this.send(namedFrame("discard", { full_message_id: id }));
  }

  /** The turn is over: texts that led to nothing are void (`discard`), or simply done with. */
  endTexts(how: "discard" | "forget"): void {
    if (how === "discard") for (const id of this.#texts.keys()) this.discard(id);
    this.#texts.clear();
  }

  /** Frames of the texts in progress, for a newcomer. */
  snapshots(): string {
    let frames = "";
    for (const [full_message_id, { source, content }] of this.#texts) {
      frames += namedFrame("snapshot", { full_message_id, source, content });
    }
    return frames;
  }

  /** From now on this client gets what is sent. */
  join(client: LiveClient): void {
    this.flush();
    this.#clients.add(client);
    this.#ping ??= setInterval(() => this.send(PING_FRAME), PING_MS);
  }

  leave(client: LiveClient): void {
    this.#clients.delete(client);
    if (this.#clients.size > 0) return;
    this.#pending = "";
    clearInterval(this.#ping);
    this.#ping = undefined;
    this.wake();
  }

  flush(): void {
    if (this.#pending === "") return;
    const bytes = encoder.encode(this.#pending);
    this.#pending = "";
    for (const client of this.#clients) client.push(bytes);
  }

  /** Nothing will happen until a human acts: asks clients to come back then, so that the object can be unloaded. */
  rest(): void {
    this.send(RETRY_FRAME);
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => this.close("all"), this.#restMs);
  }

  /** Something happens again. */
  wake(): void {
    clearTimeout(this.#rest);
    this.#rest = undefined;
  }

  /** Ends all connections for good, also of those who still read the log. */
  end(): void {
    this.over = true;
    this.close("all");
  }

  /** Ends connections, after everything sent so far. */
  close(which: "of_run" | "all"): void {
    this.flush();
    for (const client of this.#clients) {
      if (which === "all" || client.ofRun) client.close();
    }
  }
}
