import type {
  ResponseOutputItem,
  ResponseOutputMessage,
  ResponseOutputText,
  ResponseReasoningItem,
  ResponseStreamEvent,
} from "openai/resources/responses/responses";
import type { PiecePlace } from "../../../../contract/stream/text-pieces.ts";
import type { OpenAIError } from "./errors.ts";
import type { AnswerOptions } from "./answer-options.ts";
import { OpenText } from "./open-text.ts";
import type { ResponseBody } from "./response-body.ts";
import { isOfText, isUnique, Sequence, textSeen } from "./sequence.ts";
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

type TextItem = ResponseOutputMessage | ResponseReasoningItem;
export type ResponseText = OpenText<TextItem>;

/** The output of a response, and the events about it as text. */
export class ResponseOutput {
  readonly #options: AnswerOptions;
  readonly #ids = new Set<string>();
  readonly items: ResponseOutputItem[] = [];
  /** Indexes of items that are void. */
  readonly #void = new Set<number>();
  readonly sequence: Sequence;
  /** False until it is clear which part the client has of the text that comes. */
  #resumed: boolean;
  /** True if a text that was shown as the answer is void: no other stream has the numbers after it. */
  #changed = false;

  constructor(options: AnswerOptions) {
    this.#options = options;
    this.sequence = new Sequence(options.after);
    // With several agents, no text is shown as the answer while it streams.
    this.#resumed = options.live === null || !isOfText(Math.max(0, options.startingAfter));
  }

  /** The items of the finished response. */
  get valid(): ResponseOutputItem[] {
    return this.items.filter((_, index) => !this.#void.has(index));
  }

  /** True if the client has a part of a text that broke off, and no text came in its place. */
  get isLost(): boolean {
    return !this.#resumed && this.sequence.upcoming > this.#options.startingAfter;
  }

  /** The text of an event; empty for one that the client has, or does not want. @param least its number, unless it is over */
  event(event: ResponseEvent, least?: number): string {
    return this.#written(event, this.#number(least));
  }

  /** The event that ends a stream early. Clients differ in where they look for its members. */
  error(error: OpenAIError): string {
    const sequence_number = this.sequence.next();
    return namedEvent({ ...error, type: "error", error, sequence_number });
  }

  /** Begins a text. @param place the place of its first piece, if it streamed */
  begin(item: TextItem, place: PiecePlace | undefined): { text: ResponseText; events: string } {
    const text = new OpenText(item, this.items.length);
    const events = this.add(item, place) + this.#partAdded(text, place);
    return { text, events: this.#isWithheld(text) ? "" : events };
  }

  /** A piece of a text. */
  delta(text: ResponseText, delta: string, place: PiecePlace | undefined): string {
    text.add(delta);
    const number = this.#number(place && this.sequence.ofPiece(place, text));
    if (!this.#isWithheld(text) || number <= this.#options.startingAfter) {
      return this.#written(deltaOf(text, delta), number);
    }
    const seen = textSeen(this.#options.startingAfter);
    const isPart = seen !== undefined && text.shown.length < seen.length;
    return isPart ? "" : this.#resume(text, number);
  }

  /** The events that a text still needs before its end. */
  rest(text: ResponseText): string {
    const { startingAfter } = this.#options;
    const isOver = this.sequence.upcoming <= startingAfter;
    return isOver || !this.#isWithheld(text) ? "" : this.#resume(text, startingAfter + 1);
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

  #partAdded(text: ResponseText, place?: PiecePlace): string {
    const part = text.item.type === "message" ? outputText("") : reasoningText("");
    return this.part("added", text, part, place);
  }

  #number(least?: number): number {
    const { startingAfter } = this.#options;
    const number = this.#changed ? this.sequence.unique(startingAfter) : this.sequence.next(least);
    if (number === startingAfter) this.#resumed = true;
    return number;
  }

  #written(event: ResponseEvent, sequence_number: number): string {
    const { form, startingAfter } = this.#options;
    return form === "whole" || sequence_number <= startingAfter
      ? ""
      : namedEvent({ ...event, sequence_number });
  }

  /** True for an answer of which the client may have a part that broke off. */
  #isWithheld({ item }: ResponseText): boolean {
    return !this.#resumed && item.type === "message";
  }

  /** Continues the item that the client has, if this is it. Otherwise this one becomes another item. */
  #resume(text: ResponseText, number: number): string {
    const { startingAfter } = this.#options;
    this.#resumed = true;
    const seen = textSeen(startingAfter);
    if (seen !== undefined && text.continues(seen)) {
      const rest = text.shown.slice(seen.length);
      return rest === "" ? "" : this.#written(deltaOf(text, rest), number);
    }
    const before: TextItem = { ...text.item, status: "incomplete" };
    const voided = this.giveUp({ item: before, index: text.index });
    text.item = { ...text.item, id: this.newId(`${before.id}_${startingAfter.toString(36)}`) };
    text.index = this.items.length;
    return (
      // A stream that ended with this text has said so.
      (isUnique(startingAfter) ? "" : voided) +
      this.add(text.item) +
      this.#partAdded(text) +
      this.event(deltaOf(text, text.shown))
    );
  }
}

function deltaOf({ item, index: output_index }: ResponseText, delta: string): ResponseEvent {
  const place = { item_id: item.id, output_index, content_index: 0, delta };
  return item.type === "message"
    ? { type: "response.output_text.delta", ...place, logprobs: [] }
    : { type: "response.reasoning_text.delta", ...place };
}

export function outputText(text: string): ResponseOutputText {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

export function reasoningText(text: string): ReasoningText {
  return { type: "reasoning_text", text };
}
