import { EVENT_STREAM_HEADERS } from "../../../../http/event-stream.ts";
import type { JsonObject } from "../../../../core/json.ts";

/** Milliseconds between two comments, which keep proxies from closing a stream that has nothing to say. */
const COMMENT_EVERY_MS = 25_000;
/** Bytes that the client has not read, above which it is disconnected with the next message. */
const MOST_BEHIND_BYTES = 1_000_000;

/** A stream of messages to a client, which stays open until the client leaves or {@link end} is called. */
export class NotificationStream {
  readonly response: Response;
  /** Aborted when the stream is over. */
  readonly signal: AbortSignal;
  readonly #over = new AbortController();
  readonly #encoder = new TextEncoder();
  #output: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** Resolvers of those that wait until the client has read. */
  #waiting: (() => void)[] = [];

  /** @param client aborted when the client has left */
  constructor(client: AbortSignal) {
    this.signal = this.#over.signal;
    const comments = setInterval(() => this.#write(":\n\n"), COMMENT_EVERY_MS);
    this.signal.addEventListener("abort", () => clearInterval(comments));
    const wake = (): void => {
      for (const resume of this.#waiting.splice(0)) resume();
    };
    this.signal.addEventListener("abort", wake);
    const leave = (): void => this.#over.abort();
    client.addEventListener("abort", leave);
    const body = new ReadableStream<Uint8Array>(
      { start: (output) => void (this.#output = output), pull: wake, cancel: leave },
      new ByteLengthQueuingStrategy({ highWaterMark: MOST_BEHIND_BYTES }),
    );
    this.response = new Response(body, { headers: EVENT_STREAM_HEADERS });
    // The headers go out with the first bytes.
    this.#write(":\n\n");
    if (client.aborted) leave();
  }

  send(message: JsonObject): void {
    this.#write(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
  }

  /** Sends a message when the client has read those before, so that it does not disconnect the client. */
  async sendLater(message: JsonObject): Promise<void> {
    while (!this.signal.aborted && !this.#hasRoom) {
      await new Promise<void>((resume) => this.#waiting.push(resume));
    }
    this.send(message);
  }

  end(): void {
    if (this.signal.aborted) return;
    this.#over.abort();
    this.#output?.close();
  }

  #write(text: string): void {
    if (this.signal.aborted || this.#output === undefined) return;
    if (this.#hasRoom) this.#output.enqueue(this.#encoder.encode(text));
    else this.end();
  }

  get #hasRoom(): boolean {
    return (this.#output?.desiredSize ?? 0) > 0;
  }
}
