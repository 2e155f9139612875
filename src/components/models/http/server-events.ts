import { createParser, type EventSourceMessage } from "eventsource-parser";
import { AnswerChunks } from "./answer-chunks.ts";

/** The meaning of a stream event. */
export interface ReadEvent<Chunk> {
  chunk?: Chunk;
  /** All following events are ignored. */
  last?: boolean;
}

/** The chunks of an answer that is streamed as server-sent events. */
export class ServerEvents<Chunk> extends AnswerChunks<Chunk> {
  readonly #parser: ReturnType<typeof createParser>;

  /**
   * @param read called with each event. An error that it throws ends the stream: SyntaxError for data that is not JSON,
   * another error for an event that reports one
   */
  constructor(response: Response, read: (event: EventSourceMessage) => ReadEvent<Chunk>) {
    super(response);
    this.#parser = createParser({
      onEvent: (event) => {
        const { chunk, last } = read(event);
        if (chunk !== undefined) this.add(chunk);
        if (last === true) this.end();
      },
    });
  }

  protected feed(text: string): void {
    this.#parser.feed(text);
  }

  protected flush(): void {
    // Some servers leave out the empty line after their last event.
    this.#parser.feed("\n\n");
  }
}
