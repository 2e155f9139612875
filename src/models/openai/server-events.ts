import { createParser } from "eventsource-parser";
import { APIError } from "openai/error";
import type { ChatCompletionChunk } from "openai/resources/chat/completions";

const PATIENCE_MS = 500;

/**
 * Reads the events of a streamed answer. What arrived together is returned together: taking it on one by one, as the
 * SDK does, costs more than everything else that happens to a token.
 */
export class ServerEvents {
  readonly #body: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  readonly #parser: ReturnType<typeof createParser>;
  #ready: ChatCompletionChunk[] = [];
  #ended = false;

  constructor({ body, headers }: Response) {
    if (body === null) throw new SyntaxError("the answer has no body");
    this.#body = body.getReader();
    this.#parser = createParser({
      onEvent: ({ event, data }) => {
        if (this.#ended) return;
        if (data === "[DONE]") this.#ended = true;
        else this.#ready.push(parse(event, data, headers));
      },
    });
  }

  /**
   * The next chunks, perhaps none; undefined after the last.
   *
   * @throws SyntaxError for one that is not JSON
   * @throws APIError for one that tells of an error
   */
  async next(): Promise<ChatCompletionChunk[] | undefined> {
    if (this.#ended) return undefined;
    const { done, value } = await this.#body.read();
    if (done) {
      // Some servers leave out the empty line after their last event.
      this.#parser.feed("\n\n");
      this.#ended = true;
    } else this.#parser.feed(this.#decoder.decode(value, { stream: true }));
    const ready = this.#ready;
    this.#ready = [];
    return ready;
  }

  /** After the last chunk: gives the server a moment to end its answer, so that the connection can be used again. */
  finish(): void {
    const timer = setTimeout(() => this.cancel(), PATIENCE_MS);
    void this.#body
      .read()
      .catch(() => undefined) // What goes wrong after the last chunk is no loss.
      .finally(() => {
        clearTimeout(timer);
        this.cancel();
      });
  }

  /** Closes the connection; what is being waited for ends at once. */
  cancel(): void {
    // A connection that broke in the meantime needs no closing.
    this.#body.cancel().catch(() => undefined);
  }
}

function parse(event: string | undefined, data: string, headers: Headers): ChatCompletionChunk {
  const chunk = JSON.parse(data) as ChatCompletionChunk & { error?: object };
  const error = event === "error" ? (chunk.error ?? chunk) : chunk.error;
  if (error) throw new APIError(undefined, error, undefined, headers);
  return chunk;
}
