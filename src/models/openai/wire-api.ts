import type { EventSourceMessage } from "eventsource-parser";
import type { CreateOptions, CreateResult } from "../../core/models/chat-completion-client.ts";
import type { LLMMessage } from "../../core/models/llm-messages.ts";
import type { ChunkReader } from "../http/read-stream.ts";
import type { RequestForms } from "../http/request-forms.ts";
import type { ReadEvent } from "../http/server-events.ts";

/** One of the APIs by which OpenAI's models are asked: how requests are written and answers read. */
export interface WireApi<Chunk> {
  /** The body of a request. @throws ValueError when the request needs something that the model cannot do */
  write(messages: readonly LLMMessage[], options: CreateOptions, stream: boolean): RequestForms;
  /** Reads the body of an answer that was not streamed. */
  read(answer: unknown): CreateResult;
  /** Reads an event of a streamed answer. */
  readEvent(event: EventSourceMessage, headers: Headers): ReadEvent<Chunk>;
  /** Assembles a streamed answer. */
  reader(): ChunkReader<Chunk, CreateResult>;
}
