import type {
  ResponseOutputItem,
  ResponseOutputText,
  ResponseStreamEvent,
} from "openai/resources/responses/responses";
import type { PiecePlace } from "../../../../contract/stream/text-pieces.ts";
import type { OpenAIError } from "./errors.ts";
import type { AnswerOptions } from "./answer-options.ts";
import type { ResponseBody } from "./response-body.ts";
import { isOfText, Sequence } from "./sequence.ts";
import { namedEvent } from "./sse.ts";

/** An event without its number; `output_text` is made by clients. */
export type ResponseEvent = Unnumbered<ResponseStreamEvent>;
type Unnumbered<E> = E extends { response: unknown }
  ? Omit<E, "sequence_number" | "response"> & { response: ResponseBody }
  : E extends unknown
    ? Omit<E, "sequence_number">
    : never;

/** An item of the output, and its index there. */
export interface Placed<Item> {
  item: Item;
  index: number;
}

export interface ReasoningText {
  type: "reasoning_text";
  text: string;
}

/** The output of a response, and the events about it as text. */
export class ResponseOutput {
  readonly #options: AnswerOptions;
  readonly #ids = new Set<string>();
  readonly items: ResponseOutputItem[] = [];
  /** Indexes of items that are void. */
  readonly #void = new Set<number>();
  readonly sequence: Sequence;
  /** True if the last event that the client has came again. */
  #reached: boolean;
  /** True if the client has pieces of a text that is void: they did not come again. */
  lost = false;
  /** True if a text that was shown as the answer is void: a client that has the text after it cannot continue. */
  #changed = false;

  constructor(options: AnswerOptions) {
    this.#options = options;
    this.sequence = new Sequence(options.after);
    // With several agents, no text is shown as the answer while it streams.
    this.#reached = options.live === null || !isOfText(Math.max(0, options.startingAfter));
  }

  /** The items of the finished response. */
  get valid(): ResponseOutputItem[] {
    return this.items.filter((_, index) => !this.#void.has(index));
  }

  /** The text of an event; empty for one that the client has, or does not want. @param least its number, unless it is over */
  event(event: ResponseEvent, least?: number): string {
    const sequence_number = this.#changed ? this.sequence.unique() : this.sequence.next(least);
    const { form, startingAfter } = this.#options;
    if (sequence_number === startingAfter) this.#reached = true;
    else if (sequence_number > startingAfter && !this.#reached) this.lost = true;
    if (form === "whole" || sequence_number <= startingAfter || this.lost) return "";
    return namedEvent({ ...event, sequence_number });
  }

  /** The event that ends a stream early. Clients differ in where they look for its members. */
  error(error: OpenAIError): string {
    const sequence_number = this.sequence.next();
    return namedEvent({ ...error, type: "error", error, sequence_number });
  }

  /** A piece of text. */
  delta(
    type: "response.output_text.delta" | "response.reasoning_text.delta",
    { item: { id: item_id }, index: output_index }: Placed<{ id: string }>,
    delta: string,
    place: PiecePlace | undefined,
  ): string {
    return this.event(
      {
        type,
        item_id,
        output_index,
        content_index: 0,
        delta,
        ...(type === "response.output_text.delta" && { logprobs: [] }),
      } as ResponseEvent,
      place && this.sequence.ofPiece(place),
    );
  }

  /** An id for an item. A message that is said again, after its turn was given up, has the id that it had. */
  newId(id: string): string {
    let free = id;
    for (let n = 2; this.#ids.has(free); n++) free = `${id}_${n}`;
    this.#ids.add(free);
    return free;
  }

  /** Appends an item. @param item as it begins @param place the place of its first piece, if it is a text that streamed */
  add(item: ResponseOutputItem, place?: PiecePlace): string {
    const output_index = this.items.push(item) - 1;
    return this.event(
      { type: "response.output_item.added", output_index, item },
      place && this.sequence.ofBeginning(place),
    );
  }

  /** Ends a text that is void. */
  giveUp({ item, index: output_index }: Placed<ResponseOutputItem>): string {
    this.#void.add(output_index);
    this.items[output_index] = item;
    this.#changed ||= item.type === "message";
    return this.event({ type: "response.output_item.done", output_index, item });
  }

  /** Replaces an item by what it became. */
  done({ item, index }: Placed<ResponseOutputItem>): string {
    this.items[index] = item;
    return this.event({ type: "response.output_item.done", output_index: index, item });
  }

  part(
    what: "added" | "done",
    { item: { id: item_id }, index: output_index }: Placed<{ id: string }>,
    part: ResponseOutputText | ReasoningText,
    place?: PiecePlace,
  ): string {
    const type = `response.content_part.${what}` as const;
    return this.event(
      { type, item_id, output_index, content_index: 0, part },
      place && this.sequence.ofBeginning(place) + 1,
    );
  }
}
