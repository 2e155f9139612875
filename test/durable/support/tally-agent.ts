import * as z from "zod";
import { BaseChatAgent } from "../../../src/core/agents/base-chat-agent.ts";
import type { Response } from "../../../src/core/agents/chat-agent.ts";
import type { ComponentDefinition } from "../../../src/core/component/component.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { TextMessage } from "../../../src/core/messages/chat-messages.ts";
import { createMessage } from "../../../src/core/messages/create.ts";
import type { ChatMessage, Message } from "../../../src/core/messages/message.ts";
import { toText } from "../../../src/core/messages/views.ts";
import type { TurnContext } from "../../../src/core/run/turn-context.ts";

const configSchema = z.object({ name: z.string() });

/**
 * An agent as a user writes it first, with state and no parts: it keeps a tally of the texts it heard, says it, and fails
 * after that when one was `fail`.
 */
export class TallyAgent extends BaseChatAgent {
  static readonly component: ComponentDefinition<z.infer<typeof configSchema>, TallyAgent> = {
    provider: "test.TallyAgent",
    componentType: "agent",
    role: "agent",
    version: 1,
    configSchema,
    fromConfig: ({ name }) => new TallyAgent(name, "keeps a tally"),
  };

  readonly definition = TallyAgent.component;
  readonly producedMessageTypes = ["TextMessage"];
  #tally: { [text: string]: number } = {};

  // oxlint-disable-next-line require-yield
  async *onMessagesStream(
    messages: readonly ChatMessage[],
    ctx: TurnContext,
  ): AsyncGenerator<Message, Response, void> {
    const texts = messages.map(toText);
    for (const text of texts) this.#tally[text] = (this.#tally[text] ?? 0) + 1;
    if (texts.includes("fail")) throw new TypeError("told to fail");
    const chat_message = createMessage<TextMessage>(ctx, {
      type: "TextMessage",
      source: this.name,
      content: JSON.stringify(this.#tally),
    });
    return { chat_message, inner_messages: null };
  }

  onReset(): Promise<void> {
    this.#tally = {};
    return Promise.resolve();
  }

  override saveState(): JsonObject {
    return { type: "TallyAgentState", tally: { ...this.#tally } };
  }

  override loadState(state: JsonObject): void {
    super.loadState(state);
    this.#tally = { ...(state["tally"] as { [text: string]: number }) };
  }

  toConfig(): JsonObject {
    return { name: this.name };
  }
}
