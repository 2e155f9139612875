import { createParser, type EventSourceMessage } from "eventsource-parser";
import { ConnectionError } from "./errors.ts";
import { delay, isTemporary, pause, type Wake } from "./transport.ts";

/** After this time without a byte, a connection counts as lost: the server sends a comment every 15 s. */
const SILENCE_MS = 40_000;
const PATIENCE_MS = 300_000;

/** The event of browsers for a restored network. Other hosts do not have it. */
const ONLINE: Wake[] =
  "ononline" in globalThis
    ? [{ target: globalThis as unknown as EventTarget, type: "online" }]
    : [];

/** The page that the client runs in, if any. */
const PAGE = (globalThis as { document?: EventTarget & { readonly hidden: boolean } }).document;
/** The longest timer that hosts support. */
const LONGEST_MS = 2 ** 31 - 1;

export function isHidden(): boolean {
  return PAGE?.hidden === true;
}

async function whenSeen(target: EventTarget, signal: AbortSignal | undefined): Promise<void> {
  while (isHidden()) await pause(LONGEST_MS, signal, [{ target, type: "visibilitychange" }]);
}

/** Options and events of a stream's connections. */
export interface ConnectionOptions {
  signal?: AbortSignal | undefined;
  /** Milliseconds without a successful connection after which the last error is thrown. Default 5 minutes. */
  patienceMs?: number | undefined;
  /**
   * False closes the connection while the page is hidden, and continues where it was when the page is shown: browsers have
   * only six connections to a server over HTTP/1.1, for all tabs together. Default true.
   */
  background?: boolean | undefined;
  /** Called when a connection opens, and when it breaks or cannot be made; the next attempt follows. */
  onConnection?: ((state: "open" | "lost") => void) | undefined;
}

export interface EventSourceOptions extends ConnectionOptions {
  /** Opens a connection that continues after the last id; null when nothing is left to send. */
  open: (lastEventId: string | undefined, signal: AbortSignal) => Promise<Response | null>;
  /** Milliseconds without a byte after which a connection is closed. Default 40 s. */
  silenceMs?: number | undefined;
  /** A reason to reconnect before the time that the server asked for. */
  wake?: Wake | undefined;
}

/**
 * Server-sent events over as many connections as necessary. It reconnects after the last event with an id, and waits as long
 * as the server's `retry:` says. A repeated event with an id is yielded once. Ends when the server has nothing left to send.
 *
 * @throws what `open` throws, unless that is temporary
 */
export async function* eventSource(
  options: EventSourceOptions,
): AsyncGenerator<EventSourceMessage, void, void> {
  const { open, signal, wake, onConnection } = options;
  const page = options.background === false ? PAGE : undefined;
  const wakes = wake === undefined ? ONLINE : [wake, ...ONLINE];
  let lastId: string | undefined;
  let retryMs = 0;
  let failures = 0;
  let failingSince: number | undefined;
  for (;;) {
    signal?.throwIfAborted();
    if (page) await whenSeen(page, signal);
    const connection = new AbortController();
    const whileOpen = { signal: connection.signal };
    const close = (): void => connection.abort(signal?.reason);
    signal?.addEventListener("abort", close, whileOpen);
    page?.addEventListener("visibilitychange", close, whileOpen);
    // A connection may close before the signal to reconnect at once arrives.
    let woken = false;
    const onWake = (): void => {
      woken = true;
    };
    wake?.target.addEventListener(wake.type, onWake, whileOpen);
    try {
      const response = await open(lastId, connection.signal);
      if (response === null) return;
      const type = response.headers.get("content-type");
      if (!type?.startsWith("text/event-stream")) {
        throw new ConnectionError(`the answer is ${type ?? "nothing"} instead of an event stream`);
      }
      onConnection?.("open");
      const silenceMs = options.silenceMs ?? SILENCE_MS;
      for await (const event of read(response, silenceMs, connection.signal)) {
        failures = 0;
        failingSince = undefined;
        // The server sets it while a run waits for a human, and resets it with the next event.
        retryMs = "retry" in event ? event.retry : 0;
        if ("retry" in event) continue;
        const { id } = event;
        if (id !== undefined && lastId !== undefined && Number(id) <= Number(lastId)) continue;
        lastId = id ?? lastId;
        yield event;
        // Events received before it are not yielded either.
        signal?.throwIfAborted();
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (connection.signal.aborted) continue;
      const now = Date.now();
      failingSince ??= now;
      if (!isTemporary(error) || now - failingSince >= (options.patienceMs ?? PATIENCE_MS)) {
        throw error;
      }
      onConnection?.("lost");
    } finally {
      connection.abort();
    }
    const asked = woken ? 0 : retryMs;
    const wait = failures === 0 ? asked : Math.max(asked, delay(failures));
    await pause(wait, signal, wakes);
    failures++;
  }
}

/** The events of one connection until it breaks. @throws ConnectionError when it breaks in the middle */
async function* read(
  { body }: Response,
  silenceMs: number,
  signal: AbortSignal,
): AsyncGenerator<EventSourceMessage | { retry: number }, void, void> {
  if (body === null) return;
  const events: (EventSourceMessage | { retry: number })[] = [];
  const parser = createParser({
    onEvent: (event) => events.push(event),
    onRetry: (retry) => events.push({ retry }),
  });
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  // The signal of a request does not reach its answer once Node has collected the request as garbage.
  signal.addEventListener("abort", cancel);
  try {
    for (;;) {
      const { done, value } = await within(silenceMs, reader.read());
      signal.throwIfAborted();
      if (done) return;
      parser.feed(value);
      yield* events.splice(0);
    }
  } catch (error) {
    throw new ConnectionError("the stream was cut off", error);
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}

/** @throws Error when it takes longer */
async function within<T>(ms: number, pending: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing came for ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([pending, late]);
  } finally {
    clearTimeout(timer);
  }
}
