import * as z from "zod";
import { BaseChatAgent, createMessage, toText } from "troupe";
import type {
  ChatMessage,
  ComponentDefinition,
  JsonObject,
  Message,
  AgentResponse,
  TextMessage,
  TurnContext,
} from "troupe";

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
  ): AsyncGenerator<Message, AgentResponse, void> {
    const texts = messages.map(toText);
    for (const text of texts) this.#tally[text] = (this.#tally[text] ?? 0) + 1;
    if (texts.includes("fail")) throw new TypeError("told to fail");
    const chatMessage = createMessage<TextMessage>(ctx, {
      type: "TextMessage",
      source: this.name,
      content: JSON.stringify(this.#tally),
    });
    return { chatMessage, innerMessages: null };
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
