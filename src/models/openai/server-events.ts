import { createParser } from "eventsource-parser";
import { APIError } from "openai/error";
import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import { AnswerChunks } from "../http/answer-chunks.ts";

/** The chunks of an answer that is streamed as server-sent events. */
export class ServerEvents extends AnswerChunks<ChatCompletionChunk> {
  readonly #parser: ReturnType<typeof createParser>;

  constructor(response: Response) {
    super(response);
    this.#parser = createParser({
      onEvent: ({ event, data }) => {
        if (data === "[DONE]") this.end();
        else this.add(parse(event, data, response.headers));
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

/** @throws APIError for an event that reports an error */
function parse(event: string | undefined, data: string, headers: Headers): ChatCompletionChunk {
  const chunk = JSON.parse(data) as ChatCompletionChunk & { error?: object };
  const error = event === "error" ? (chunk.error ?? chunk) : chunk.error;
  if (error) throw new APIError(undefined, error, undefined, headers);
  return chunk;
}
