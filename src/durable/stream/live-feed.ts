import type { ModelClientStreamingChunkEvent } from "../../core/messages/agent-events.ts";
import type { JsonObject } from "../../core/json.ts";
import type { TextFrame } from "../../contract/stream/stream-frame.ts";
import type { TextPieces } from "../../contract/stream/text-pieces.ts";
import type { Message } from "../../core/messages/message.ts";
import type { RecordedEvent } from "../storage/event-log.ts";
import { type FrameWriter, type LiveFrame, PING_FRAME } from "./frames.ts";
import type { StreamClient, StreamPlaces } from "./stream-places.ts";
import { type TextOrigin, TextsInProgress } from "./texts-in-progress.ts";

const PING_MS = 15_000;

/** A connected client that has received everything recorded. Must not throw and must not wait. */
export interface LiveClient {
  /** Id of the run that its stream shows; null when it shows the team. */
  readonly run: string | null;
  /** Clients with the same one get the same bytes. */
  readonly writer: FrameWriter;
  readonly client: StreamClient;
  push(bytes: Uint8Array): void;
  /** Sends what is queued and ends the connection. */
  close(): void;
}

export interface LiveFeedOptions {
  /** How long connections stay open while the run waits for a human, in milliseconds. */
  restMs: number;
  /** Called before bytes leave: makes the writes that they tell of. */
  settle: () => void;
  textOrigin: TextOrigin;
}

/** So many pending frames, or characters of them, are sent at once: while data keeps coming in, timers do not fire. */
const FLUSH_FRAMES = 300;
const FLUSH_LENGTH = 64 * 1024;
/** A batch of more frames, so soon after another one, is part of a burst. */
const LARGE_BATCH = 5;
const BURST_MS = 1000;

const encoder = new TextEncoder();

/** The clients of one writer, and what it has written for them. */
interface Channel {
  writer: FrameWriter;
  clients: Set<LiveClient>;
  pending: string;
}

/**
 * Sends what is happening now to all connected clients, and keeps the texts in progress for clients that connect later.
 * Frames of one batch are encoded once and sent in one write: when the reader of a model's stream says that a batch is
 * complete ({@link batchComplete}), and otherwise by a timer. Nothing here is stored.
 */
export class LiveFeed implements StreamPlaces {
  readonly #channels = new Map<FrameWriter, Channel>();
  /** All streams, those included that have not received everything recorded. */
  readonly #streams = new Set<LiveClient>();
  /** Clients of queued runs: what happens now does not concern them. */
  readonly #queued = new Set<LiveClient>();
  readonly #texts: TextsInProgress;
  /** First frames of clients, until the next flush. */
  readonly #openings = new Map<LiveClient, string>();
  /** Written since the last flush. */
  #frames = 0;
  #largeBatchAt = 0;
  #flushTimer: ReturnType<typeof setTimeout> | undefined;
  #ping: ReturnType<typeof setInterval> | undefined;
  #rest: ReturnType<typeof setTimeout> | undefined;
  readonly #restMs: number;
  readonly #settle: () => void;
  /** Whether the team is deleted. */
  over = false;
  /** Called when a stream has ended. */
  onLeave: () => void = () => undefined;

  constructor({ restMs, settle, textOrigin }: LiveFeedOptions) {
    this.#texts = new TextsInProgress(textOrigin);
    this.#restMs = restMs;
    this.#settle = settle;
  }

  /** Whether clients follow the active run. */
  get isWatched(): boolean {
    return this.#channels.size > 0;
  }

  /** Open streams, those included that have not received everything recorded. */
  get streams(): number {
    return this.#streams.size;
  }

  streamsOf(credential: string): number {
    return this.#of(credential).length;
  }

  closeOldest(credential: string): boolean {
    const [oldest] = this.#of(credential);
    oldest?.close();
    return oldest !== undefined;
  }

  /** The client of a stream has left. */
  closeStream(name: string): void {
    for (const one of this.#streams) if (one.client.stream === name) one.close();
  }

  send(frame: LiveFrame): void {
    this.#write((writer) => writer.live(frame));
  }

  /** A message ends its streamed text. @returns the pieces that it was streamed in, if they make its text */
  endText(message: Message): TextPieces | undefined {
    this.#tellHeld();
    return this.#texts.end(message);
  }

  /** A turn was committed. @param state what the team shows of its state */
  visibleState(state: JsonObject): void {
    for (const { visibleState } of this.#channels.keys()) {
      if (visibleState === undefined) continue;
      this.#write((writer) => writer.visibleState?.(state) ?? "");
      return;
    }
  }

  event(event: RecordedEvent): void {
    this.#write((writer) => writer.recorded(event));
  }

  chunk(event: ModelClientStreamingChunkEvent): void {
    if (!this.#texts.isOfCurrent(event)) this.#tellHeld();
    const { frames, apart } = this.#texts.add(event);
    this.#add((writer) => writer.piece(event, frames));
    if (apart) this.#tellHeld();
  }

  /** What has arrived of a message. */
  textOf(messageId: string): string | undefined {
    return this.#texts.textOf(messageId);
  }

  /** The text streamed for a message is void. */
  discard(id: string): void {
    this.#tellHeld();
    const text = this.#texts.take(id);
    if (text !== undefined) this.#discarded(text);
  }

  /** The turn is over: its unfinished texts are declared void (`discard`), or only forgotten. */
  endTexts(how: "discard" | "forget"): void {
    this.#tellHeld();
    const unfinished = this.#texts.takeAll();
    if (how === "discard") for (const text of unfinished) this.#discarded(text);
    this.#largeBatchAt = 0;
  }

  #discarded({ full_message_id, source }: TextFrame): void {
    this.send({ event: "discard", data: { full_message_id, source } });
  }

  /** Frames of the texts in progress, for a new client. */
  snapshots(writer: FrameWriter): string {
    this.#tellHeld();
    return this.#texts.shown
      .map(({ data, pieces }) => writer.live({ event: "snapshot", data }, pieces))
      .join("");
  }

  /** A stream is opened. */
  enter(client: LiveClient): void {
    this.#streams.add(client);
  }

  /**
   * The client gets all frames from now on.
   *
   * @param opening its first frames, which are sent together with those that follow at once: the start of a run, mostly
   */
  join(client: LiveClient, opening = ""): void {
    this.flush();
    const { writer } = client;
    const channel = this.#channels.get(writer) ?? { writer, clients: new Set(), pending: "" };
    channel.clients.add(client);
    this.#channels.set(writer, channel);
    if (opening !== "") {
      this.#openings.set(client, opening);
      this.#flushSoon();
    }
    this.#keepAlive();
  }

  /** The client gets all frames once its run has begun. */
  joinQueued(client: LiveClient): void {
    this.#queued.add(client);
    this.#keepAlive();
  }

  /** A queued run begins: its clients get all frames from now on. */
  begin(run: string): void {
    for (const client of this.#queued) {
      if (client.run !== run) continue;
      this.#queued.delete(client);
      this.join(client);
    }
  }

  leave(client: LiveClient): void {
    if (this.#streams.delete(client)) this.onLeave();
    this.#queued.delete(client);
    this.#openings.delete(client);
    const channel = this.#channels.get(client.writer);
    channel?.clients.delete(client);
    if (channel?.clients.size === 0) this.#channels.delete(client.writer);
    if (this.isWatched || this.#queued.size > 0) return;
    clearInterval(this.#ping);
    this.#ping = undefined;
    this.wake();
  }

  /**
   * Everything that has arrived was passed to {@link send}: sends it now. In a burst more follows, and a write costs more
   * than a frame: then the timer, a millisecond later, sends several batches in one write.
   */
  batchComplete(): void {
    const burst = Date.now() - this.#largeBatchAt < BURST_MS;
    if (!burst || this.#frames <= LARGE_BATCH) this.flush();
  }

  /** Sends a frame about a run that is not active to the clients of that run and of the team. */
  sendAbout(run: string, frame: (writer: FrameWriter) => string): void {
    this.flush();
    const about = this.#everybody().filter((client) => client.run === null || client.run === run);
    push(about, frame);
  }

  /** Sends the pending frames now, in one write per client. */
  flush(): void {
    this.#tellHeld();
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    const frames = this.#frames;
    this.#frames = 0;
    if (frames > 0) this.#settle();
    if (frames > LARGE_BATCH) this.#largeBatchAt = Date.now();
    for (const channel of this.#channels.values()) {
      const { clients, writer, pending } = channel;
      channel.pending = "";
      this.#send(clients, pending);
      if (writer.ended) for (const client of clients) client.close();
    }
  }

  /** The run rests: asks clients to come back later and disconnects them, so that the object can be unloaded. */
  rest(): void {
    this.#write(({ retry }) => retry);
    push(this.#queued, ({ retry }) => retry);
    clearTimeout(this.#rest);
    // No timer without a connection: it would keep the object in memory.
    if (!this.isWatched && this.#queued.size === 0) return;
    this.#rest = setTimeout(() => this.close(), this.#restMs);
  }

  /** The run goes on: connections stay open. */
  wake(): void {
    clearTimeout(this.#rest);
    this.#rest = undefined;
  }

  /** The team is deleted: ends all connections, including those of clients that still read the log. */
  end(): void {
    this.over = true;
    this.close();
  }

  /** Ends connections after sending the pending frames: those of one run, or all. */
  close(run?: string): void {
    this.flush();
    for (const client of this.#everybody()) {
      if (run === undefined || client.run === run) client.close();
    }
  }

  #keepAlive(): void {
    this.#ping ??= setInterval(() => {
      this.#write(() => PING_FRAME);
      sendText(this.#queued, PING_FRAME);
    }, PING_MS);
  }

  /** Tells what was held back of a text, because more of it might follow. */
  #tellHeld(): void {
    const told = this.#texts.takeHeld();
    if (told !== undefined) this.#add((writer) => writer.told(told));
  }

  /** Adds a frame to what is sent to the clients of the active run and of the team, after all pieces before it. */
  #write(frame: (writer: FrameWriter) => string): void {
    this.#tellHeld();
    this.#add(frame);
  }

  #add(frame: (writer: FrameWriter) => string): void {
    if (!this.isWatched) return;
    this.#frames++;
    let longest = 0;
    for (const channel of this.#channels.values()) {
      channel.pending += frame(channel.writer);
      longest = Math.max(longest, channel.pending.length);
    }
    if (this.#frames >= FLUSH_FRAMES || longest >= FLUSH_LENGTH) this.flush();
    else this.#flushSoon();
  }

  #flushSoon(): void {
    this.#flushTimer ??= setTimeout(() => this.flush(), 0);
  }

  /** Sends the same bytes to all, but for those that are new. */
  #send(clients: ReadonlySet<LiveClient>, pending: string): void {
    if (this.#openings.size === 0) return sendText(clients, pending);
    const others = new Set(clients);
    for (const [client, opening] of this.#openings) {
      if (!others.delete(client)) continue;
      this.#openings.delete(client);
      sendText([client], opening + pending);
    }
    sendText(others, pending);
  }

  /** The streams of a credential, the oldest first. */
  #of(credential: string): LiveClient[] {
    return [...this.#streams].filter(({ client }) => client.credential === credential);
  }

  #everybody(): LiveClient[] {
    const live = [...this.#channels.values()].flatMap(({ clients }) => [...clients]);
    return [...live, ...this.#queued];
  }
}

function push(clients: Iterable<LiveClient>, frame: (writer: FrameWriter) => string): void {
  for (const client of clients) sendText([client], frame(client.writer));
}

function sendText(clients: Iterable<LiveClient>, text: string): void {
  if (text === "") return;
  const bytes = encoder.encode(text);
  for (const client of clients) client.push(bytes);
}
