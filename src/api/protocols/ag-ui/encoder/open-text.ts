import type { RunItem } from "../../shared/run-item.ts";
import type { AgUiEvent } from "../wire/events.ts";
import { aboutSource, type OwnMetadata } from "../wire/event-fields.ts";
import type { Ids } from "./ids.ts";
import { ThinkingText } from "../../../../core/text/thinking-text.ts";

type TextStart = Extract<RunItem, { type: "text_start" }>;

/** A text that clients get while it grows: its reasoning as `REASONING_*`, and its answer as `TEXT_MESSAGE_*`. */
export class OpenText {
  readonly start: TextStart;
  /** The whole text so far. */
  content = "";
  readonly #ids: Ids;
  readonly #parts: ThinkingText;
  #thoughtId: string | undefined;
  #answerId: string | undefined;

  /** @param plain whether all of it is the answer */
  constructor(start: TextStart, ids: Ids, plain: boolean) {
    this.start = start;
    this.#ids = ids;
    this.#parts = new ThinkingText(plain);
  }

  get thought(): string {
    return this.#parts.thought;
  }

  get answer(): string {
    return this.#parts.answer;
  }

  /** The id under which clients have its answer. */
  get id(): string {
    return this.#answerId ?? this.start.messageId;
  }

  add(delta: string): AgUiEvent[] {
    this.content += delta;
    return this.#show(this.#parts.add(delta));
  }

  /** The text that was held back because it might have become a tag. */
  rest(): AgUiEvent[] {
    return this.#show(this.#parts.end());
  }

  /** @param about fields of its message that its end has */
  end(about: OwnMetadata = {}): AgUiEvent[] {
    const messageId = this.#answerId;
    return [
      ...this.rest(),
      ...this.#endThought(),
      ...(messageId === undefined
        ? []
        : [{ type: "TEXT_MESSAGE_END" as const, messageId, ...about }]),
    ];
  }

  #show({ thought, answer }: Pick<ThinkingText, "thought" | "answer">): AgUiEvent[] {
    const { messageId, source } = this.start;
    const events: AgUiEvent[] = [];
    if (thought !== "") {
      if (this.#thoughtId === undefined) {
        this.#thoughtId = this.#ids.nextThought(messageId);
        events.push(...startOfThought(this.#thoughtId, source));
      }
      const id = this.#thoughtId;
      events.push({ type: "REASONING_MESSAGE_CONTENT", messageId: id, delta: thought });
    }
    if (answer !== "") {
      if (this.#answerId === undefined) {
        // The id of its message is not known yet.
        const own = this.#thoughtId === undefined ? messageId : `${messageId}-answer`;
        events.push(...this.#endThought());
        this.#answerId = this.#ids.next(own);
        events.push(startOfText(this.#answerId, this.start));
      }
      events.push({ type: "TEXT_MESSAGE_CONTENT", messageId: this.#answerId, delta: answer });
    }
    return events;
  }

  /** The answer has ended the thought, if there is one. */
  #endThought(): AgUiEvent[] {
    const id = this.#thoughtId;
    return id === undefined || this.#answerId !== undefined ? [] : endOfThought(id);
  }
}

export function startOfText(
  messageId: string,
  { source, role }: Pick<TextStart, "source" | "role">,
): AgUiEvent {
  return {
    type: "TEXT_MESSAGE_START",
    messageId,
    role: role === "human" ? "user" : "assistant",
    ...(source !== "user" && { name: source }),
  };
}

export function startOfThought(messageId: string, source: string): AgUiEvent[] {
  return [
    { type: "REASONING_START", messageId },
    { type: "REASONING_MESSAGE_START", messageId, role: "reasoning", ...aboutSource(source) },
  ];
}

export function endOfThought(messageId: string): AgUiEvent[] {
  return [
    { type: "REASONING_MESSAGE_END", messageId },
    { type: "REASONING_END", messageId },
  ];
}
