import { toText } from "../../../../core/messages/views.ts";
import type { RunItem, TextPlace } from "../../shared/run-item.ts";
import { type AgUiEvent, OWN } from "../events.ts";
import { aboutMessage, aboutSource } from "../event-fields.ts";
import type { Ids } from "./ids.ts";
import type { Steps } from "./steps.ts";

type Item<Type extends RunItem["type"]> = Extract<RunItem, { type: Type }>;

/** Encodes messages and thoughts: `TEXT_MESSAGE_*` and `REASONING_*`. */
export class Texts {
  readonly #ids: Ids;
  readonly #steps: Steps;
  /** Messages of users, which have no tool calls. */
  readonly #ofUsers = new Set<string>();
  /** Texts that turned out to be thoughts, by who thinks. */
  readonly #thoughts = new Map<string, string>();
  readonly #open = new Map<string, { start: Item<"text_start">; content: string }>();

  constructor(ids: Ids, steps: Steps) {
    this.#ids = ids;
    this.#steps = steps;
  }

  start(item: Item<"text_start">): AgUiEvent[] {
    const { messageId, source, role } = item;
    const sent = this.#ids.next(messageId);
    this.#open.set(messageId, { start: item, content: "" });
    if (role === "human") this.#ofUsers.add(sent);
    return [
      ...this.#steps.begin(source),
      {
        type: "TEXT_MESSAGE_START",
        messageId: sent,
        role: role === "human" ? "user" : "assistant",
        ...(source !== "user" && { name: source }),
      },
    ];
  }

  delta({ messageId, delta }: Item<"text_delta">): AgUiEvent[] {
    const open = this.#open.get(messageId);
    if (open !== undefined) open.content += delta;
    return [{ type: "TEXT_MESSAGE_CONTENT", messageId: this.#ids.of(messageId), delta }];
  }

  /** @param items all of the same frame */
  end(text: Item<"text_end">, items: readonly RunItem[]): AgUiEvent[] {
    const messageId = this.#ids.of(text.messageId);
    this.#open.delete(text.messageId);
    const end = { type: "TEXT_MESSAGE_END", messageId } as const;
    const said = items.find((item) => item.type === "message");
    if (!text.void) {
      return [
        said !== undefined && isOf(text, said) ? { ...end, ...aboutMessage(said.message) } : end,
      ];
    }
    if (!this.isVoid(text, items)) {
      this.#thoughts.set(text.source, messageId);
      return [{ ...end, metadata: { [OWN]: { type: "ThoughtEvent" } } }];
    }
    return [{ ...end, metadata: { [OWN]: { void: true } } }];
  }

  /** Whether clients have a text that the log does not have. @param items all of the same frame */
  isVoid(text: Item<"text_end">, items: readonly RunItem[]): boolean {
    if (!text.void) return false;
    const thought = items.some((item) => item.type === "thought" && isThought(text, item));
    return !thought || this.#ofUsers.has(this.#ids.of(text.messageId));
  }

  /** Ends the texts that are open. @returns what begins them again */
  interrupt(): { ends: AgUiEvent[]; again: () => AgUiEvent[] } {
    const open = [...this.#open.values()];
    this.#thoughts.clear();
    return {
      ends: open.map(({ start: { messageId } }) => ({
        type: "TEXT_MESSAGE_END",
        messageId: this.#ids.of(messageId),
      })),
      again: () =>
        open.flatMap(({ start, content: delta }) => [
          ...this.start(start),
          ...this.delta({ ...start, type: "text_delta", delta }),
        ]),
    };
  }

  thought({ id, source, content }: Item<"thought">): AgUiEvent[] {
    // Clients have it as a text.
    if (this.#thoughts.get(source) === this.#ids.of(id)) return [];
    const messageId = this.#ids.next(id);
    return [
      ...this.#steps.begin(source),
      { type: "REASONING_START", messageId },
      { type: "REASONING_MESSAGE_START", messageId, role: "reasoning", ...aboutSource(source) },
      { type: "REASONING_MESSAGE_CONTENT", messageId, delta: content },
      { type: "REASONING_MESSAGE_END", messageId },
      { type: "REASONING_END", messageId },
    ];
  }

  /** The text with the thought before an agent's calls, which become calls of this message. */
  takeThought(source: string): string | undefined {
    const thought = this.#thoughts.get(source);
    this.#thoughts.delete(source);
    return thought;
  }

  /** @param items all of the same frame */
  message(item: Item<"message">, items: readonly RunItem[]): AgUiEvent[] {
    const { message, role } = item;
    const { id: messageId, source } = message;
    this.#thoughts.delete(source);
    const events: AgUiEvent[] = [];
    if (!items.some((text) => text.type === "text_end" && !text.void && isOf(text, item))) {
      // Its text is empty.
      events.push(...this.start({ type: "text_start", messageId, attempt: 1, source, role }), {
        type: "TEXT_MESSAGE_END",
        messageId: this.#ids.of(messageId),
        ...aboutMessage(message),
      });
      this.#open.delete(messageId);
    }
    return [...events, ...this.#steps.end(source)];
  }
}

function isOf({ source, content }: Item<"text_end">, { message }: Item<"message">): boolean {
  return source === message.source && content === toText(message);
}

function isThought(
  { messageId, content }: TextPlace & { content: string },
  thought: Item<"thought">,
): boolean {
  return messageId === thought.id && content === thought.content;
}
