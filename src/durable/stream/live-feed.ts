import type { ModelClientStreamingChunkEvent } from "../../core/messages/agent-events.ts";
import { streamedTextId } from "../../core/messages/create.ts";
import type { Message } from "../../core/messages/message.ts";
import type { RecordedEvent } from "../storage/event-log.ts";
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
  /** Null where the pieces do not say; clients then go by the source. */
  full_message_id: string | null;
  source: string;
  content: string;
}

/** Frames of so many characters do not wait for others: while data keeps coming in, timers do not fire. */
const FLUSH_LENGTH = 16 * 1024;
/** Frames of more characters than this, sent so soon after as many, are part of a burst. */
const FEW_FRAMES = 1024;
const BURST_MS = 1000;
/** Steps of promises without a new frame after which no more are on their way: several times what a piece of text takes. */
const QUIET_STEPS = 100;

const encoder = new TextEncoder();

/**
 * What is happening now, for whoever watches. Frames that arise together leave together, encoded
 * once for all clients; nothing here is stored.
 */
export class LiveFeed {
  readonly #clients = new Set<LiveClient>();
  readonly #texts = new Map<string, TextInProgress>();
  #pending = "";
  #flushing = false;
  #burstAt = 0;
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
    if (this.#pending.length >= FLUSH_LENGTH) this.flush();
    if (this.#flushing) return;
    this.#flushing = true;
    void this.#flushSoon();
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
    const id = streamedTextId(event);
    const text = this.#texts.get(id);
    const { full_message_id, source, content } = event;
    if (text) text.content += content;
    else this.#texts.set(id, { full_message_id, source, content });
    if (this.#clients.size > 0) this.send(liveFrame(event));
  }

  /** The text shown of a message is void. */
  discard(id: string): void {
    const text = this.#texts.get(id);
    if (text === undefined) return;
    this.#texts.delete(id);
    const { full_message_id, source } = text;
    this.send(namedFrame("discard", { full_message_id, source }));
  }

  /** The turn is over: texts that led to nothing are void (`discard`), or simply done with. */
  endTexts(how: "discard" | "forget"): void {
    if (how === "discard") for (const id of this.#texts.keys()) this.discard(id);
    this.#texts.clear();
    this.#burstAt = 0;
  }

  /** Frames of the texts in progress, for a newcomer. */
  snapshots(): string {
    let frames = "";
    for (const text of this.#texts.values()) frames += namedFrame("snapshot", text);
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
    if (this.#pending.length > FEW_FRAMES) this.#burstAt = Date.now();
    this.#pending = "";
    for (const client of this.#clients) client.push(bytes);
  }

  /**
   * Once no more frames are on their way. In a burst more will come; a timer of no time waits the millisecond for them
   * that is too long for somebody who sees word after word.
   */
  async #flushSoon(): Promise<void> {
    let length = this.#pending.length;
    for (let quiet = 0; quiet < QUIET_STEPS; quiet++) {
      await Promise.resolve();
      if (this.#pending.length === length) continue;
      length = this.#pending.length;
      quiet = 0;
    }
    if (length > FEW_FRAMES && Date.now() - this.#burstAt < BURST_MS) {
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    this.#flushing = false;
    this.flush();
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
