import {
  BaseChatAgent,
  ComponentRegistry,
  createMessage,
  MaxMessageTermination,
  toText,
} from "troupe";
import type {
  ChatMessage,
  JsonObject,
  Message,
  AgentResponse,
  TerminationCondition,
  TextMessage,
  TurnContext,
} from "troupe";

export type Reply = (
  heard: readonly ChatMessage[],
  ctx: TurnContext,
) => AsyncGenerator<Message, AgentResponse, void>;

/** An agent made of a function. It counts its replies as its state. */
export class TestAgent extends BaseChatAgent {
  readonly definition = {
    provider: "test.TestAgent",
    componentType: "agent",
    role: "agent",
    version: 1,
  } as const;
  readonly producedMessageTypes = ["TextMessage"];
  readonly heard: string[][] = [];
  readonly calls: string[] = [];
  readonly #reply: Reply;
  #replies = 0;

  constructor(name: string, reply?: Reply) {
    super(name, `${name} is made for a test.`);
    this.#reply = reply ?? ((_, ctx) => this.#count(ctx));
  }

  onMessagesStream(
    messages: readonly ChatMessage[],
    ctx: TurnContext,
  ): AsyncGenerator<Message, AgentResponse, void> {
    this.heard.push(messages.map(toText));
    return this.#reply(messages, ctx);
  }

  onReset(): Promise<void> {
    this.calls.push("reset");
    this.#replies = 0;
    return Promise.resolve();
  }

  override onPause(): Promise<void> {
    this.calls.push("pause");
    return Promise.resolve();
  }

  override onResume(): Promise<void> {
    this.calls.push("resume");
    return Promise.resolve();
  }

  override close(): Promise<void> {
    this.calls.push("close");
    return Promise.resolve();
  }

  toConfig(): JsonObject {
    return { name: this.name };
  }

  override saveState(): JsonObject {
    return { replies: this.#replies };
  }

  override loadState(state: JsonObject): void {
    super.loadState(state);
    this.#replies = Number(state.replies ?? 0);
  }

  // oxlint-disable-next-line require-yield
  async *#count(ctx: TurnContext): AsyncGenerator<Message, AgentResponse, void> {
    return {
      chatMessage: text(this.name, `${this.name}${++this.#replies}`, ctx),
      innerMessages: null,
    };
  }
}

export function text(
  source: string,
  content: string,
  origin: Pick<TurnContext, "id" | "now">,
): TextMessage {
  return createMessage<TextMessage>(origin, { type: "TextMessage", source, content });
}

/** An agent that answers a text and yields nothing before. */
export function speaker(
  name: string,
  answer: (heard: readonly ChatMessage[], ctx: TurnContext) => string | Promise<string>,
): TestAgent {
  // oxlint-disable-next-line require-yield
  return new TestAgent(name, async function* (heard, ctx) {
    const content = await answer(heard, ctx);
    return { chatMessage: text(name, content, ctx), innerMessages: null };
  });
}

let ids = 0;

/** Ids and times for messages made by a test. */
export const ORIGIN = { id: () => `t${ids++}`, now: () => "2026-01-01T00:00:00.000Z" };

/** The texts of messages, as `source: content`. */
export function lines(messages: readonly Message[]): string[] {
  return messages.map((message) => `${message.source}: ${toText(message)}`);
}

/** A condition that was stored before it was refused: it counts as fired before the first message. */
export function firedCondition(): TerminationCondition {
  const registry = new ComponentRegistry().register(MaxMessageTermination.component);
  return registry.load({ provider: "MaxMessageTermination", config: { max_messages: 0 } });
}
