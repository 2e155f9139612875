import type { StreamFrame } from "../../../../contract/stream/stream-frame.ts";
import { isJsonObject } from "../../../../core/json.ts";
import type { Message } from "../../../../core/messages/message.ts";
import type { AgUiOptions } from "../wire/options.ts";
import { conversationOf, type Thread } from "../request/thread.ts";

type MessageFrame = Extract<StreamFrame, { event: "message" }>;

/** Characters of a stream's messages that are kept. */
const MOST_KEPT = 1_000_000;

/** The conversation as clients should have it by now: what they had before the stream, and the messages in it. */
export class ClientThread {
  readonly #options: AgUiOptions;
  #said: Message[] = [];
  #size = 0;

  constructor(options: AgUiOptions) {
    this.#options = options;
  }

  add({ id, data }: MessageFrame): void {
    if (id === undefined || "message_ids" in data) return;
    this.#size += JSON.stringify(data).length;
    if (this.#size > MOST_KEPT) this.#said = [];
    else this.#said.push(data);
  }

  remove(messageIds: readonly string[]): void {
    this.#said = this.#said.filter(({ id }) => !messageIds.includes(id));
  }

  /** Undefined where it is too long to be kept. */
  current(): Pick<Thread, "messages" | "calls"> | undefined {
    const { thread, threadId, continued } = this.#options;
    if (thread === null || this.#size > MOST_KEPT) return undefined;
    const streamed = conversationOf(this.#said, {
      threadId,
      given: thread,
      calls: continued?.calls ?? {},
      humans: continued?.humans ?? [],
    });
    const had = new Set(thread.map((message) => isJsonObject(message) && message.id));
    const added = streamed.messages.filter(
      (message) => !(isJsonObject(message) && had.has(message.id)),
    );
    return { messages: [...thread, ...added], calls: { ...streamed.calls } };
  }
}
