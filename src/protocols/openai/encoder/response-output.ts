import type {
  ResponseOutputItem,
  ResponseOutputText,
  ResponseStreamEvent,
} from "openai/resources/responses/responses";
import type { AnswerOptions } from "./answer-options.ts";
import type { ResponseBody } from "./response-body.ts";
import { Sequence } from "./sequence.ts";
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

/** The output of a response, and the text of the events that tell of it. */
export class ResponseOutput {
  readonly #options: AnswerOptions;
  readonly #ids = new Set<string>();
  readonly items: ResponseOutputItem[] = [];
  readonly sequence: Sequence;

  constructor(options: AnswerOptions) {
    this.#options = options;
    this.sequence = new Sequence(options.after);
  }

  /** The text of an event; empty for one that the client has, or does not want. */
  event(event: ResponseEvent): string {
    const sequence_number = this.sequence.next();
    const { form, startingAfter } = this.#options;
    if (form === "whole" || sequence_number <= startingAfter) return "";
    return namedEvent({ ...event, sequence_number });
  }

  /** A piece of text, or what the client does not have of it. */
  delta(
    type: "response.output_text.delta" | "response.reasoning_text.delta",
    { item: { id: item_id }, index: output_index }: Placed<{ id: string }>,
    delta: string,
  ): string {
    const sequence_number = this.sequence.next(delta.length);
    const missing = Math.min(delta.length, sequence_number - this.#options.startingAfter);
    if (missing <= 0 || this.#options.form === "whole") return "";
    return namedEvent({
      type,
      sequence_number,
      item_id,
      output_index,
      content_index: 0,
      delta: delta.slice(delta.length - missing),
      ...(type === "response.output_text.delta" && { logprobs: [] }),
    });
  }

  /** An id for an item. A message that is said again, after its turn was given up, has the id that it had. */
  newId(id: string): string {
    let free = id;
    for (let n = 2; this.#ids.has(free); n++) free = `${id}_${n}`;
    this.#ids.add(free);
    return free;
  }

  /** Appends an item. @param item as it begins */
  add(item: ResponseOutputItem): string {
    const output_index = this.items.push(item) - 1;
    return this.event({ type: "response.output_item.added", output_index, item });
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
  ): string {
    const type = `response.content_part.${what}` as const;
    return this.event({ type, item_id, output_index, content_index: 0, part });
  }
}
