import type { EventSourceMessage } from "eventsource-parser";
import type { ResponseOutputItem, ResponseStreamEvent } from "openai/resources/responses/responses";
import type { CreateResult } from "../../../../core/models/chat-completion-client.ts";
import { ModelError } from "../../../../core/models/model-error.ts";
import { StreamedThought } from "../../chat/thought.ts";
import type { ChunkReader } from "../../http/read-stream.ts";
import type { ReadEvent } from "../../http/server-events.ts";
import {
  type AnswerEnd,
  type AnswerSettings,
  BETWEEN_PARTS,
  failure,
  resultOf,
} from "./read-response.ts";

/** An event of a streamed response; null for `[DONE]`, with which some servers end. */
export type ResponseEvent = ResponseStreamEvent | null;

/**
 * Reads an event of a streamed response.
 *
 * @throws SyntaxError for data that is not JSON
 * @throws APIError for an event that reports an error
 */
export function readEvent({ data }: EventSourceMessage): ReadEvent<ResponseEvent> {
  if (data === "[DONE]") return { chunk: null, last: true };
  const chunk = JSON.parse(data) as ResponseStreamEvent;
  switch (chunk.type) {
    case "error":
      throw failure(errorOf(chunk));
    case "response.failed":
      throw failure(chunk.response.error);
    case "response.completed":
    case "response.incomplete":
      return { chunk, last: true };
    default:
      return { chunk };
  }
}

/** The error stands in the event itself or, as some servers write it, in a field of it. */
function errorOf(event: object): object {
  return "error" in event && typeof event.error === "object" && event.error !== null
    ? event.error
    : event;
}

/** Assembles a streamed response, event by event. */
export class ResponseReader implements ChunkReader<ResponseEvent, CreateResult> {
  readonly #settings: AnswerSettings;
  readonly #thought = new StreamedThought();
  readonly #items: ResponseOutputItem[] = [];
  #end: AnswerEnd | undefined;
  #isDone = false;
  /** The message whose text streamed last. */
  #message: string | undefined;

  constructor(settings: AnswerSettings) {
    this.#settings = settings;
  }

  /** The text that an event adds, with reasoning between `<think>` tags. */
  read(event: ResponseEvent): string {
    if (event === null) {
      this.#isDone = true;
      return this.#thought.add(null);
    }
    switch (event.type) {
      case "response.output_text.delta":
      case "response.refusal.delta":
        return this.#thought.add(null) + this.#before(event.item_id) + event.delta;
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return this.#thought.add(event.delta);
      case "response.reasoning_summary_part.added":
        return this.#thought.text === null ? "" : this.#thought.add(BETWEEN_PARTS);
      case "response.output_item.added":
        return event.item.type === "function_call" ? this.#thought.add(null) : "";
      case "response.output_item.done":
        this.#items.push(event.item);
        return "";
      case "response.completed":
      case "response.incomplete":
        this.#end = event.response;
        // Some servers send no item events.
        if (this.#items.length === 0) this.#items.push(...(event.response.output ?? []));
        return this.#thought.add(null);
      default:
        return "";
    }
  }

  /** The separator before a piece of a message: a new paragraph if another message had text before. */
  #before(message: string): string {
    const isNext = this.#message !== undefined && this.#message !== message;
    this.#message = message;
    return isNext ? BETWEEN_PARTS : "";
  }

  /**
   * A response is complete with the event that says so or, from servers that send none, with `[DONE]` after its items.
   *
   * @throws ModelError `bad_response` when the stream ended before the response did
   */
  result(): CreateResult {
    if (this.#end === undefined && !(this.#isDone && this.#items.length > 0))
      throw new ModelError("bad_response", "The model server's stream ended before the reply did");
    return resultOf(this.#items, this.#end, this.#settings);
  }
}
