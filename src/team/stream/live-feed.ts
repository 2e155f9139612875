import type { ModelClientStreamingChunkEvent } from "../../core/messages/agent-events.ts";
import type { JsonObject } from "../../core/json.ts";
import type { TextFrame, TurnFrame } from "../../contract/stream/stream-frame.ts";
import type { RunInfo } from "../../contract/run.ts";
import type { TextPieces } from "../../contract/stream/text-pieces.ts";
import type { Message } from "../../core/messages/message.ts";
import type { Database } from "../../sqlite/database.ts";
import type { EventLog, RecordedEvent } from "../storage/log/event-log.ts";
import { Batch, type ClientConnection } from "./batch.ts";
import { type FrameWriter, type LiveFrame, nativeFrames, PING_FRAME } from "./frames.ts";
import type { StreamClient, StreamPlaces, Watcher } from "./stream-places.ts";
import { TextsInProgress } from "./texts-in-progress.ts";

const PING_MS = 15_000;

/** A connected client that has received everything recorded. Must not throw and must not wait. */
export interface LiveClient {
  /** Id of the run that its stream shows; null when it shows the team. */
  readonly run: string | null;
  /** Clients with the same key get the same bytes. */
  readonly writer: FrameWriter;
  readonly client: StreamClient;
  /** True if the object can be unloaded while it is connected: then pings and timers are not for it. */
  readonly hibernates: boolean;
  push(batch: Batch): void;
  /** Sends pending bytes and ends the connection. */
  close(): void;
}

export interface LiveFeedOptions {
  /** The time for which connections hold the object while the run waits for a human, in milliseconds. */
  idleMs: number;
  /** Flushed before bytes are sent: its delayed writes are what the bytes report. */
  db: Pick<Database, "flush">;
  log: Pick<EventLog, "last">;
  /** The number of interruptions of the run since the last event. */
  restarts: () => number;
}

/**
 * This many pending frames, or characters of them, are sent at once, because timers do not fire while data keeps coming
 * in.
 */
const FLUSH_FRAMES = 300;
const FLUSH_LENGTH = 64 * 1024;
/** A batch with more frames that follows another this soon is part of a burst. */
const LARGE_BATCH = 5;
const BURST_MS = 1000;

/** The clients of one frame writer, and the frames written for them. */
interface Channel {
  writer: FrameWriter;
  clients: Set<LiveClient>;
  pending: string;
}

/**
 * Sends live frames to all connected clients, and keeps the texts in progress for clients that connect later.
 * Frames of one batch are encoded once and sent in one write: when the reader of a model's stream says that a batch is
 * complete ({@link batchComplete}), and otherwise by a timer. Nothing here is stored.
 */
export class LiveFeed implements StreamPlaces {
  readonly #channels = new Map<FrameWriter, Channel>();
  /** All streams, including those still reading recorded events. */
  readonly #streams = new Set<LiveClient>();
  /** Clients of queued runs, which get no live frames yet. */
  readonly #queued = new Set<LiveClient>();
  readonly #texts: TextsInProgress;
  /** First frames of new clients, until the next flush. */
  readonly #openings = new Map<LiveClient, string>();
  /** Frames written since the last flush. */
  #frames = 0;
  /** The cursor after the last recorded event among the written frames. */
  #cursor = 0;
  #largeBatchAt = 0;
  #flushTimer: ReturnType<typeof setTimeout> | undefined;
  /** After how long the timer flushes; infinite without one. */
  #flushAfterMs = Infinity;
  #ping: ReturnType<typeof setInterval> | undefined;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #idleMs: number;
  /** The cursors of streams that were broken off when the run had rested for some time, by their names. */
  readonly #brokenOff = new Map<string, number>();
  readonly #db: LiveFeedOptions["db"];
  readonly #log: LiveFeedOptions["log"];
  /** True if any client follows the active run. */
  isWatched = false;
  /** True once the team is deleted. */
  over = false;
  /** Called when a stream has ended. */
  onLeave: () => void = () => undefined;

  constructor({ idleMs, db, log, restarts }: LiveFeedOptions) {
    this.#texts = new TextsInProgress(() => ({ after: log.last, restarts: restarts() }));
    this.#idleMs = idleMs;
    this.#db = db;
    this.#log = log;
  }

  /** The number of open streams, including those still reading recorded events. */
  get streams(): number {
    return this.#streams.size;
  }

  /** True if a client is connected that the object must stay loaded for. */
  get isHeld(): boolean {
    return [...this.#streams].some(({ hibernates }) => !hibernates);
  }

  streamsOf(credential: string): number {
    return this.#of(credential).length;
  }

  closeOldest(credential: string): boolean {
    const [oldest] = this.#of(credential);
    oldest?.close();
    return oldest !== undefined;
  }

  /** Removes a stream whose client has disconnected. */
  closeStream(name: string): void {
    for (const one of this.#streams) if (one.client.stream === name) one.close();
  }

  /**
   * @param withinMs how long the frame may wait for others. On a busy thread, each write delays the next one until
   * everything else that waits for the thread has had its turn.
   */
  send(frame: LiveFrame, withinMs = 0): void {
    this.#write((writer) => writer.live(frame), withinMs);
  }

  /**
   * Ends the streamed text of a message. @returns the pieces in which it was streamed, if together they are its text
   */
  endText(message: Message): TextPieces | undefined {
    if (this.#texts.isClear) return undefined;
    this.#writeUnsent();
    return this.#texts.end(message);
  }

  /** Sends a turn that was committed, and the visible state of the team after it. */
  turn(data: TurnFrame, state: JsonObject): void {
    this.send({ event: "turn", data });
    for (const { visibleState } of this.#channels.keys()) {
      if (visibleState === undefined) continue;
      this.#write((writer) => writer.visibleState?.(state) ?? "");
      return;
    }
  }

  event(event: RecordedEvent): void {
    this.#writeUnsent();
    this.#cursor = event.seq;
    this.#add((writer) => writer.recorded(event));
  }

  chunk(event: ModelClientStreamingChunkEvent): void {
    if (!this.#texts.isOfCurrent(event)) this.#writeUnsent();
    const { frames, apart } = this.#texts.add(event);
    this.#add((writer) => writer.piece(event, frames));
    if (apart) this.#writeUnsent();
  }

  /** The text that has arrived of a message. */
  textOf(messageId: string): string | undefined {
    return this.#texts.textOf(messageId);
  }

  /** The duration of the reasoning at the beginning of a message's text, in milliseconds; undefined without reasoning. */
  thoughtOf(messageId: string): number | undefined {
    return this.#texts.thoughtOf(messageId);
  }

  /** Discards the text streamed for a message. */
  discard(id: string): void {
    this.#writeUnsent();
    const text = this.#texts.take(id);
    if (text !== undefined) this.#discarded(text);
  }

  /** Ends the turn: its unfinished texts are declared void (`discard`), or only forgotten. */
  endTexts(how: "discard" | "forget"): void {
    if (!this.#texts.isClear) {
      this.#writeUnsent();
      const unfinished = this.#texts.takeAll();
      if (how === "discard") for (const text of unfinished) this.#discarded(text);
    }
    this.#largeBatchAt = 0;
  }

  #discarded({ full_message_id, source }: TextFrame): void {
    this.send({ event: "discard", data: { full_message_id, source } });
  }

  /** Frames of the texts in progress, for a new client. */
  snapshots(writer: FrameWriter): string {
    if (this.#texts.isEmpty) return "";
    this.#writeUnsent();
    return this.#texts.shown
      .map(({ data, pieces }) => writer.live({ event: "snapshot", data }, pieces))
      .join("");
  }

  /** Registers an opened stream. */
  enter(client: LiveClient): void {
    this.#streams.add(client);
  }

  /**
   * Adds a client that gets all frames from now on.
   *
   * @param opening its first frames, which are sent together with those that follow immediately, such as the start of a
   * run
   */
  join(client: LiveClient, opening = ""): void {
    this.flush();
    this.#cursor = this.#log.last;
    const { writer } = client;
    const channel = this.#channels.get(writer) ?? { writer, clients: new Set(), pending: "" };
    channel.clients.add(client);
    this.#channels.set(writer, channel);
    this.isWatched = true;
    if (opening !== "") {
      this.#openings.set(client, opening);
      this.#flushWithin(0);
    }
    this.#keepAlive();
  }

  /** Adds a watcher that has received everything recorded: the object was unloaded and is loaded again. */
  restore(
    connection: ClientConnection,
    { run, ...client }: Watcher,
    writer: FrameWriter = nativeFrames,
  ): void {
    const watcher: LiveClient = {
      run,
      writer,
      client,
      hibernates: connection.hibernates,
      push: (batch) => connection.push(batch),
      close: () => connection.close(),
    };
    connection.onLeft = () => this.leave(watcher);
    this.enter(watcher);
    this.join(watcher);
  }

  /** Adds a client that gets all frames once its run has started. */
  joinQueued(client: LiveClient): void {
    this.#queued.add(client);
    this.#keepAlive();
  }

  /** Starts a queued run: its clients get all frames from now on. */
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
    this.isWatched = this.#channels.size > 0;
    if (this.isHeld) return;
    clearInterval(this.#ping);
    this.#ping = undefined;
    this.stayOpen();
  }

  /**
   * Sends the pending frames when a batch is complete. In a burst, another batch follows soon, and a write costs more
   * than a frame: then the timer, a millisecond later, sends several batches in one write.
   */
  batchComplete(): void {
    const burst = Date.now() - this.#largeBatchAt < BURST_MS;
    if (!burst || this.#frames <= LARGE_BATCH) this.flush();
  }

  /** Sends a frame about a run that is not active to the clients of that run and of the team. */
  sendAbout(run: string, frame: (writer: FrameWriter) => string): void {
    this.flush();
    const clients = this.#allClients().filter(
      (client) => client.run === null || client.run === run,
    );
    for (const client of clients) {
      this.#sendText([client], frame(client.writer), this.#log.last);
    }
  }

  /** Sends the pending frames now, in one write per client. */
  flush(): void {
    this.#writeUnsent();
    clearTimeout(this.#flushTimer);
    this.#flushAfterMs = Infinity;
    const frames = this.#frames;
    this.#frames = 0;
    if (frames > 0) this.#db.flush();
    if (frames > LARGE_BATCH) this.#largeBatchAt = Date.now();
    for (const channel of this.#channels.values()) {
      const { clients, writer, pending } = channel;
      channel.pending = "";
      this.#send(clients, pending);
      if (writer.ended) for (const client of clients) client.close();
    }
  }

  /**
   * The run becomes idle: soon, clients for which the object has to stay loaded are disconnected, and continue over a socket, but not in
   * a format that should have ended because the run waits.
   */
  becomeIdle(status: RunInfo["status"]): void {
    this.flush();
    clearTimeout(this.#idleTimer);
    // No timer without a connection: it would keep the object in memory.
    if (!this.isHeld) return;
    this.#idleTimer = setTimeout(() => {
      this.flush();
      this.#brokenOff.clear();
      for (const client of this.#allClients()) {
        if (client.hibernates) continue;
        const continues = client.writer.isNative === true || this.#queued.has(client);
        if (continues || status === "paused") {
          this.#brokenOff.set(client.client.stream, this.#log.last);
        }
        client.close();
      }
    }, this.#idleMs);
  }

  /** The cursor where a stream was closed because the run became idle; undefined for any other. */
  takeBrokenOff(stream: string): number | undefined {
    const cursor = this.#brokenOff.get(stream);
    this.#brokenOff.delete(stream);
    return cursor;
  }

  /** The run continues: connections stay open. */
  stayOpen(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = undefined;
  }

  /** Ends all connections of a deleted team, including those of clients that still read the log. */
  end(): void {
    this.over = true;
    this.close();
  }

  /** Ends connections after sending the pending frames: those of one run, or all. */
  close(run?: string): void {
    this.flush();
    for (const client of this.#allClients()) {
      if (run === undefined || client.run === run) client.close();
    }
  }

  #keepAlive(): void {
    if (!this.isHeld) return;
    this.#ping ??= setInterval(() => {
      this.flush();
      const held = this.#allClients().filter(({ hibernates }) => !hibernates);
      this.#sendText(held, PING_FRAME);
    }, PING_MS);
  }

  /** Writes the pending pieces of a text, which were buffered because more of it might follow. */
  #writeUnsent(): void {
    if (!this.#texts.hasUnsent) return;
    const piece = this.#texts.takeUnsent();
    if (piece !== undefined) this.#add((writer) => writer.joined(piece));
  }

  /** Adds a frame for the clients of the active run and of the team, after all earlier pieces. */
  #write(frame: (writer: FrameWriter) => string, withinMs = 0): void {
    this.#writeUnsent();
    this.#add(frame, withinMs);
  }

  #add(frame: (writer: FrameWriter) => string, withinMs = 0): void {
    if (!this.isWatched) return;
    this.#frames++;
    let longest = 0;
    for (const channel of this.#channels.values()) {
      channel.pending += frame(channel.writer);
      longest = Math.max(longest, channel.pending.length);
    }
    if (this.#frames >= FLUSH_FRAMES || longest >= FLUSH_LENGTH) this.flush();
    else this.#flushWithin(withinMs);
  }

  #flushWithin(ms: number): void {
    if (ms >= this.#flushAfterMs) return;
    clearTimeout(this.#flushTimer);
    this.#flushAfterMs = ms;
    this.#flushTimer = setTimeout(() => this.flush(), ms);
  }

  /** Sends the same bytes to all clients except new ones. */
  #send(clients: ReadonlySet<LiveClient>, pending: string): void {
    if (this.#openings.size === 0) return this.#sendText(clients, pending);
    const others = new Set(clients);
    for (const [client, opening] of this.#openings) {
      if (!others.delete(client)) continue;
      this.#openings.delete(client);
      this.#sendText([client], opening + pending);
    }
    this.#sendText(others, pending);
  }

  #sendText(clients: Iterable<LiveClient>, text: string, cursor = this.#cursor): void {
    if (text === "") return;
    const batch = new Batch(text, cursor, !this.#texts.isEmpty);
    for (const client of clients) client.push(batch);
  }

  /** The streams of a credential, oldest first. */
  #of(credential: string): LiveClient[] {
    return [...this.#streams].filter(({ client }) => client.credential === credential);
  }

  #allClients(): LiveClient[] {
    const live = [...this.#channels.values()].flatMap(({ clients }) => [...clients]);
    return [...live, ...this.#queued];
  }
}
