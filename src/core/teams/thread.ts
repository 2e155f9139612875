import * as z from "zod";
import { isChatMessage } from "../messages/views.ts";
import type { TextMessage } from "../messages/chat-messages.ts";
import type { ChatMessage, Message } from "../messages/message.ts";
import { isMessage } from "../messages/message-factory.ts";
import { ItemLog } from "../state/item-log.ts";
import { concernsMember, isSteering, passedTo, recipientOf } from "../turn/steering.ts";
import type { ThreadView } from "./group-chat-manager.ts";

/** A message of a thread, as it is stored. */
export type ThreadItem = {
  message: Message;
  /** True if the participants get it. They do not get the inner events of agents. */
  shared: boolean;
  /** The participant it comes from; null for the task, the manager and people. */
  by: string | null;
  /** The participants that have read it in the middle of their turn: a message that was sent into the run. */
  heard?: string[] | undefined;
};

const messageSchema = z.custom<Message>(isMessage, "must be a message");
const chatMessageSchema = z.custom<ChatMessage>(
  (value) => isMessage(value) && isChatMessage(value),
  "must be a chat message",
);
const itemSchema: z.ZodType<ThreadItem> = z.object({
  message: messageSchema,
  shared: z.boolean(),
  by: z.string().nullable(),
  heard: z.array(z.string()).optional(),
});

/** Messages that a participant gets. */
export interface Unheard {
  messages: readonly ChatMessage[];
  /** The number of them, at the beginning, that are from before the current run. */
  earlier: number;
}

/** The messages of a group chat, and for each participant those it has not heard yet. */
export class Thread implements ThreadView {
  readonly items = new ItemLog(itemSchema);
  readonly #listeners: ReadonlyMap<string, Listener>;
  /** The length at which the current run began. */
  runStart = 0;

  constructor(names: readonly string[]) {
    this.#listeners = new Map(
      names.map((name) => [name, { seen: 0, before: new ItemLog(chatMessageSchema) }]),
    );
  }

  get length(): number {
    return this.items.length;
  }

  slice(from?: number, to?: number): Message[] {
    return this.items.slice(from, to).map((item) => item.message);
  }

  add(items: readonly ThreadItem[]): void {
    for (const item of items) this.items.append(item);
  }

  /** Adds what was said in a turn, by participants that have heard everything before it. */
  addSaid(names: readonly string[], items: readonly ThreadItem[]): void {
    const { length } = this.items;
    this.add(items);
    for (const name of names) this.heard(name, length);
  }

  /** @param earlier how many messages of the run's task are from before it */
  beginRun(earlier: number): void {
    this.runStart = this.items.length + earlier;
  }

  /**
   * The chat messages that a participant has not heard yet, without its own.
   *
   * @param team the name of the thread's team. A handoff to it becomes a handoff to the participant: so a human in the team can hand
   *   back to the sender, and an inner team sees a handoff to its own name.
   */
  unheard(name: string, team?: string): Unheard {
    const { seen, before } = this.#listener(name);
    const messages = before.slice();
    let earlier = messages.length;
    for (const [index, item] of this.items.slice(seen).entries()) {
      const { message, shared, by } = item;
      if (!shared || by === name || !isChatMessage(message)) continue;
      if (isSteering(message)) {
        if (!isUnheard(item, name)) continue;
        messages.push(passedTo(name, message));
      } else messages.push(message);
      if (seen + index < this.runStart) earlier = messages.length;
    }
    const heard = messages.map((message) =>
      message.type === "HandoffMessage" && message.target === team
        ? { ...message, target: name }
        : message,
    );
    return { messages: heard, earlier };
  }

  /** The messages that people have sent since the last speaker. */
  sentLast(): ThreadItem[] {
    const items = this.items.slice();
    const last = items.findLastIndex(({ message }) => !isSteering(message));
    return items.slice(last + 1).map(({ message }) => ({ message, shared: true, by: null }));
  }

  /** The messages that people have sent to one participant, or to one in it, and it has not heard. */
  addressed(): { name: string; message: TextMessage }[] {
    const found: { name: string; message: TextMessage }[] = [];
    for (const [name, { seen }] of this.#listeners) {
      for (const item of this.items.slice(seen)) {
        const { message } = item;
        if (recipientOf(message) === undefined || !isSteering(message)) continue;
        if (isUnheard(item, name)) found.push({ name, message });
      }
    }
    return found;
  }

  /** Records that a participant has heard everything before `index`. */
  heard(name: string, index: number): void {
    const listener = this.#listener(name);
    listener.seen = index;
    listener.before.clear();
  }

  clear(): void {
    this.items.clear();
    this.runStart = 0;
    for (const name of this.#listeners.keys()) this.heard(name, 0);
  }

  /** Loads a saved thread. It does not record the speakers, so the unheard messages are given as lists. */
  replace(
    messages: readonly Message[],
    unheard: ReadonlyMap<string, readonly ChatMessage[]>,
  ): void {
    this.items.clear();
    this.runStart = messages.length;
    this.add(messages.map((message) => ({ message, shared: isChatMessage(message), by: null })));
    for (const name of this.#listeners.keys()) {
      this.heard(name, this.length);
      for (const message of unheard.get(name) ?? []) this.#listener(name).before.append(message);
    }
  }

  /** The messages that went to all participants. */
  shared(): Message[] {
    return this.items
      .slice()
      .filter(({ shared }) => shared)
      .map(({ message }) => message);
  }

  /** Continues another thread. New participants hear only later messages. */
  continueFrom(previous: Thread): void {
    this.items.continueFrom(previous.items);
    this.runStart = previous.runStart;
    for (const [name, listener] of this.#listeners) {
      const before = previous.#listeners.get(name);
      listener.seen = before?.seen ?? this.length;
      if (before) listener.before.continueFrom(before.before);
    }
  }

  /** For each participant, the index of the first message it has not heard. */
  get cursors(): { [name: string]: number } {
    return Object.fromEntries([...this.#listeners].map(([name, { seen }]) => [name, seen]));
  }

  set cursors(cursors: { [name: string]: number }) {
    for (const [name, listener] of this.#listeners) listener.seen = cursors[name] ?? 0;
  }

  /** The logs that a host stores, besides the cursors. */
  get logs(): { readonly [name: string]: ItemLog<unknown> } {
    const before = [...this.#listeners].map(([name, listener]) => [
      `buffer.${name}`,
      listener.before,
    ]);
    return { thread: this.items, ...Object.fromEntries(before) };
  }

  #listener(name: string): Listener {
    const listener = this.#listeners.get(name);
    if (listener === undefined) throw new RangeError(`"${name}" is not in this thread`);
    return listener;
  }
}

/** True if a participant gets the message of a person, and has not read it in the middle of its turn. */
function isUnheard({ message, heard }: ThreadItem, name: string): boolean {
  return concernsMember(name, recipientOf(message)) && !heard?.includes(name);
}

interface Listener {
  /** Records that the participant has heard everything before this index. */
  seen: number;
  /** Unheard messages from a loaded state. They come before those of the thread. */
  before: ItemLog<ChatMessage>;
}
