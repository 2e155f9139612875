import { ACKNOWLEDGED, CONTINUE_CODE, readBatch } from "./batch.ts";
import type { HumanRequest } from "../../contract/run.ts";
import { PING_FRAME } from "./frames.ts";
import type { StreamClient } from "./stream-places.ts";

const PING_MS = 15_000;
/** Unread bytes of one client in the Worker, above which it is disconnected. */
const MOST_BEHIND_BYTES = 1_000_000;
/**
 * Pauses before the attempts to continue a broken socket, in milliseconds. An object that ends with an error whenever it sends
 * must not be started again without end.
 */
const PAUSES_MS = [0, 100, 1_000, 5_000];
/** The cost of a message or a ping, in milliseconds of a Worker's CPU, with a margin. */
const CPU_MS_PER_MESSAGE = 0.05;

/**
 * The most by which an object may begin earlier than the Worker to count how long a stream has been open, in milliseconds.
 */
const HEAD_START_MS = 1_000;

/** The code of a socket that broke without a closing message. */
const ABNORMAL_CODE = 1006;

const ping = new TextEncoder().encode(PING_FRAME);

/** The response header with the cursor after which a socket begins that continues with another stream. */
export const CURSOR = "x-troupe-cursor";

/** A request for the socket of a watcher, as its object reads it with {@link readWatchRequest}. */
export interface WatchCall<Client extends StreamClient = StreamClient> {
  /** The cursor; null: only what happens from now on. */
  after: number | null;
  client: Client;
}

/** The query parameter with the call, as JSON. */
const CALL = "watch";

export function watchRequest(call: WatchCall): Request {
  const query = new URLSearchParams({ [CALL]: JSON.stringify(call) });
  return new Request(`https://object/watch?${query.toString()}`, {
    headers: { upgrade: "websocket" },
  });
}

export function readWatchRequest<Client extends StreamClient>({ url }: Request): WatchCall<Client> {
  return JSON.parse(new URL(url).searchParams.get(CALL) ?? "null") as WatchCall<Client>;
}

export interface RelayOptions {
  /**
   * Asks the object for a socket that begins after the cursor, or continues with a stream that the object has ended. Its
   * answer may be one without a socket: a refusal.
   */
  open(after: number | null, continues?: string): Promise<Response>;
  /** Aborted when the client has disconnected. */
  signal: AbortSignal | undefined;
  /** The CPU time that the Worker may use for one request, in milliseconds. */
  cpuMs: number;
  /** Pauses before the attempts to continue, in milliseconds. */
  pausesMs?: readonly number[];
}

/** The client's part of a run that was queued or paused. */
export interface Seen {
  cursor: number;
  /** The questions of the run while it was idle. */
  requests: readonly HumanRequest[];
}

/** A stream that an object itself sends, and its name. */
export interface ObjectStream {
  body: ReadableStream<Uint8Array>;
  stream: string;
}

export interface PassOptions extends RelayOptions {
  /** Milliseconds after which the object ends a stream whose run waits, at the earliest. */
  idleMs: number;
  /**
   * Opens a stream in the format of a protocol once more, without what the client has; undefined if there is nothing left of it.
   * Left out for native streams, which continue over the socket.
   */
  reopen?: ((seen: Seen) => Promise<ObjectStream | undefined>) | undefined;
}

export interface WatchOptions extends RelayOptions {
  after: number | null;
}

/**
 * A watcher's stream of server-sent events, as the Worker sends it: the frames come from the object over a socket for which
 * the object need not stay loaded. A socket that breaks is continued where it was. A client that reads too slowly, or has
 * used the CPU time of its request, is disconnected and can reconnect with its cursor.
 *
 * @returns the stream, or the object's answer if it is none
 */
export async function watch(options: WatchOptions): Promise<ReadableStream<Uint8Array> | Response> {
  const response = await options.open(options.after);
  const { webSocket } = response;
  if (!webSocket) return response;
  const { readable, writable } = new IdentityTransformStream();
  new WatchRelay(options, writable).follow(webSocket);
  return readable;
}

/**
 * Passes on the stream that an object answers with, without reading it. The object ends the stream when its run has waited
 * for a human, has been paused or has been queued for some time, and is joined by a socket from then on, for which it need not stay loaded. In the
 * format of a protocol the object opens the stream again as soon as the socket says that the run continues.
 */
export function passOn(opened: ObjectStream, options: PassOptions): ReadableStream<Uint8Array> {
  const { readable, writable } = new IdentityTransformStream();
  passAll(opened, writable, options)
    .catch((error: unknown) => writable.abort(error))
    .catch(() => undefined); // The client has disconnected already.
  return readable;
}

async function passAll(
  opened: ObjectStream,
  writable: WritableStream<Uint8Array>,
  options: PassOptions,
): Promise<void> {
  const { idleMs, reopen } = options;
  let current: ObjectStream | undefined = opened;
  while (current !== undefined) {
    const startedAt = Date.now();
    await current.body.pipeTo(writable, { preventClose: true });
    const isShort = Date.now() - startedAt < idleMs - HEAD_START_MS;
    const response: Response | undefined = isShort
      ? undefined
      : await options.open(null, current.stream);
    if (!response?.webSocket) break;
    const cursor: number = Number(response.headers.get(CURSOR));
    const native = reopen && new IdentityTransformStream();
    const relay = new WatchRelay({ ...options, after: cursor }, native?.writable ?? writable);
    relay.follow(response.webSocket);
    if (native === undefined) return;
    const { untilContinues } = await import("./continue-run.ts");
    const requests = await untilContinues(native.readable, writable);
    current = requests && (await reopen?.({ cursor, requests }));
  }
  await writable.close();
}

class WatchRelay {
  readonly #options: WatchOptions;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #ping: ReturnType<typeof setInterval>;
  #socket: WebSocket | undefined;
  #cursor: number | null;
  #behind = 0;
  #messagesLeft: number;
  /** Attempts to continue since something new came, or a socket lasted until a ping. */
  #attempts = 0;
  /** True if the client has the beginning of a text. */
  #unfinished = false;
  #over = false;

  constructor(options: WatchOptions, writable: WritableStream<Uint8Array>) {
    this.#options = options;
    this.#cursor = options.after;
    this.#messagesLeft = Math.floor(options.cpuMs / CPU_MS_PER_MESSAGE);
    this.#writer = writable.getWriter();
    this.#writer.closed.catch(() => this.#end());
    options.signal?.addEventListener("abort", () => this.#end(), { once: true });
    this.#ping = setInterval(() => {
      if (this.#socket !== undefined) this.#attempts = 0;
      if (this.#messagesLeft-- <= 0) this.#end();
      void this.#write(ping);
    }, PING_MS);
  }

  follow(socket: WebSocket): void {
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    socket.addEventListener("message", ({ data }) => {
      if (data instanceof ArrayBuffer) void this.#pass(socket, data);
    });
    socket.addEventListener("close", ({ code }) => {
      if (this.#socket !== socket) return;
      if (code === CONTINUE_CODE || code === ABNORMAL_CODE) this.#interrupted();
      else this.#end();
    });
    socket.addEventListener("error", () => {
      if (this.#socket === socket) this.#interrupted();
    });
    socket.accept();
  }

  async #pass(socket: WebSocket, message: ArrayBuffer): Promise<void> {
    const { frames, cursor, wantsAcknowledgement, unfinished } = readBatch(message);
    this.#unfinished = unfinished ?? this.#unfinished;
    if (cursor !== this.#cursor) this.#attempts = 0;
    this.#cursor = cursor;
    // A client without unread bytes gets frames of any size: they would be as large when it comes back.
    const tooSlow = this.#behind > 0 && this.#behind + frames.length > MOST_BEHIND_BYTES;
    if (tooSlow || this.#messagesLeft-- <= 0) return this.#end();
    await this.#write(frames);
    if (wantsAcknowledgement && !this.#over) socket.send(ACKNOWLEDGED);
  }

  async #write(bytes: Uint8Array): Promise<void> {
    if (this.#over || bytes.length === 0) return;
    this.#behind += bytes.length;
    try {
      await this.#writer.write(bytes);
      this.#behind -= bytes.length;
    } catch {
      this.#end();
    }
  }

  /**
   * The object was restarted, or asks to continue. It makes the call again whose text has begun, and clients drop such a text
   * when they come back themselves.
   */
  #interrupted(): void {
    if (this.#unfinished) this.#end();
    else void this.#continue();
  }

  /** Continues over a new socket. */
  async #continue(): Promise<void> {
    this.#socket = undefined;
    const { pausesMs = PAUSES_MS } = this.#options;
    for (const pause of pausesMs.slice(this.#attempts)) {
      this.#attempts++;
      await new Promise((resolve) => setTimeout(resolve, pause));
      if (this.#over) return;
      const response = await this.#options.open(this.#cursor).catch(() => undefined);
      if (response?.webSocket) {
        if (this.#over) response.webSocket.close(1000);
        else this.follow(response.webSocket);
        return;
      }
      // The team is gone, or this watcher has no place any more: a request of the client's own says so.
      if (response) break;
    }
    this.#end();
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    clearInterval(this.#ping);
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close(1000);
    this.#writer.close().catch(() => undefined); // The client has disconnected already.
  }
}
