import { toText } from "../../../../core/messages/views.ts";
import { endsTexts, type RunItem } from "../../shared/run-item.ts";
import { type AgUiEvent, OWN } from "../wire/events.ts";
import { aboutMessage, type OwnMetadata } from "../wire/event-fields.ts";
import type { Ids } from "./ids.ts";
import { endOfThought, OpenText, startOfText, startOfThought } from "./open-text.ts";
import type { AgentSteps } from "./steps.ts";

type Item<Type extends RunItem["type"]> = Extract<RunItem, { type: Type }>;

/** Encodes messages and thoughts: `TEXT_MESSAGE_*` and `REASONING_*`. */
export class Texts {
  readonly #ids: Ids;
  readonly #steps: AgentSteps;
  /** Texts that turned out to be thoughts, by who thinks. */
  readonly #thoughts = new Map<string, string>();
  /** Thoughts that clients have. */
  readonly #sentThoughts = new Set<string>();
  readonly #open = new Map<string, OpenText>();
  /** Texts whose answer streamed behind a thought, by who speaks. Their messages are still to come. */
  readonly #answers = new Map<string, OpenText>();

  constructor(ids: Ids, steps: AgentSteps) {
    this.#ids = ids;
    this.#steps = steps;
  }

  /** @param items all of the same frame */
  start(item: Item<"text_start">, items: readonly RunItem[]): AgUiEvent[] {
    const { messageId, source, role } = item;
    if (this.#answers.has(source)) return [];
    const whole = items.some((end) => end.type === "text_end" && end.messageId === messageId);
    this.#open.set(messageId, new OpenText(item, this.#ids, whole || role === "human"));
    return this.#steps.begin(source);
  }

  delta({ messageId, delta }: Item<"text_delta">): AgUiEvent[] {
    return this.#open.get(messageId)?.add(delta) ?? [];
  }

  /** @param items all of the same frame @returns also whether clients have a text that the log does not have */
  end(item: Item<"text_end">, items: readonly RunItem[]): { events: AgUiEvent[]; isVoid: boolean } {
    const { messageId, source } = item;
    const text = this.#open.get(messageId);
    this.#open.delete(messageId);
    if (text === undefined) return { events: this.#endAnswer(item, items), isVoid: false };
    if (!item.void) return { events: text.end(aboutText(item, items)), isVoid: false };
    const rest = text.rest();
    const thought = items.find(
      (one): one is Item<"thought"> => one.type === "thought" && one.source === source,
    );
    const ends = (about?: OwnMetadata): { events: AgUiEvent[]; isVoid: boolean } => {
      if (thought !== undefined) this.#sentThoughts.add(thought.id);
      return { events: [...rest, ...text.end(about)], isVoid: false };
    };
    if (text.thought !== "" && thought?.content.trim() === text.thought.trim()) {
      if (text.answer === "") return ends();
      this.#sentThoughts.add(thought.id);
      this.#answers.set(source, text);
      return { events: rest, isVoid: false };
    }
    const { role } = text.start;
    if (role === "agent" && thought?.id === messageId && thought.content === text.answer) {
      this.#thoughts.set(source, text.id);
      return ends({ metadata: { [OWN]: { type: "ThoughtEvent" } } });
    }
    // Reasoning before calls is in no message.
    const calls = items.some((one) => one.type === "tool_calls" && one.source === source);
    if (text.answer === "" && calls) return ends();
    const events = [...rest, ...text.end({ metadata: { [OWN]: { void: true } } })];
    return { events, isVoid: true };
  }

  /** The message of an answer that clients have. */
  #endAnswer(item: Item<"text_end">, items: readonly RunItem[]): AgUiEvent[] {
    const answer = this.#answers.get(item.source);
    if (answer === undefined) return [];
    this.#answers.delete(item.source);
    this.#ids.use(item.messageId, answer.id);
    return answer.end(aboutText(item, items));
  }

  /**
   * True if clients have an answer that differs from its message, or whose message will not come. @param items all of the
   * same frame
   */
  isContradicted(items: readonly RunItem[]): boolean {
    return [...this.#answers].some(([source, { answer }]) => {
      const said = items.find(
        (item) => item.type === "text_end" && !item.void && item.source === source,
      );
      if (said?.type === "text_end") return said.content.trim() !== answer.trim();
      return items.some((item) => endsTexts(item) || isOfSpeaker(item, source));
    });
  }

  /** Ends the texts that are open. @returns what begins them again */
  interrupt(): { ends: AgUiEvent[]; again: () => AgUiEvent[] } {
    const open = [...this.#open.values()];
    const ends = [...open, ...this.#answers.values()].flatMap((text) => text.end());
    this.#thoughts.clear();
    this.#sentThoughts.clear();
    this.#answers.clear();
    return {
      ends,
      again: () =>
        open.flatMap(({ start, content: delta }) => [
          ...this.start(start, []),
          ...this.delta({ ...start, type: "text_delta", delta }),
        ]),
    };
  }

  thought({ id, source, content }: Item<"thought">): AgUiEvent[] {
    if (this.#sentThoughts.delete(id)) return [];
    const messageId = this.#ids.nextThought(id);
    return [
      ...this.#steps.begin(source),
      ...startOfThought(messageId, source),
      { type: "REASONING_MESSAGE_CONTENT", messageId, delta: content },
      ...endOfThought(messageId),
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
    const { id, source } = message;
    this.#thoughts.delete(source);
    const hasText = items.some(
      (text) => text.type === "text_end" && !text.void && isOf(text, item),
    );
    // A turn that was shown before a pause begins as a subagent only now.
    if (hasText) return [...this.#steps.begin(source), ...this.#steps.end(source)];
    const messageId = this.#ids.next(id);
    return [
      ...this.#steps.begin(source),
      startOfText(messageId, { source, role }),
      { type: "TEXT_MESSAGE_END", messageId, ...aboutMessage(message) },
      ...this.#steps.end(source),
    ];
  }
}

/** True if an agent says or does something. */
function isOfSpeaker(item: RunItem, source: string): boolean {
  if (item.type === "message") return item.message.source === source;
  const { type } = item;
  return (
    (type === "text_start" || type === "thought" || type === "tool_calls") && item.source === source
  );
}

function aboutText(text: Item<"text_end">, items: readonly RunItem[]): OwnMetadata {
  const said = items.find((item) => item.type === "message");
  return said?.type === "message" && isOf(text, said) ? aboutMessage(said.message) : {};
}

function isOf({ source, content }: Item<"text_end">, { message }: Item<"message">): boolean {
  return source === message.source && content === toText(message);
}
