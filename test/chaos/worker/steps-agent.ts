import * as z from "zod";
import { BaseChatAgent, createMessage } from "troupe";
import type {
  ChatMessage,
  ComponentDefinition,
  JsonObject,
  Message,
  AgentResponse,
  TextMessage,
  TurnContext,
} from "troupe";
import { effect } from "./effects.ts";

const configSchema = z.strictObject({ name: z.string() });
type StepsAgentConfig = z.infer<typeof configSchema>;

/**
 * An agent as a user might write one: steps in sequence and side by side, pieces of text, and state that it counts
 * itself. It knows nothing of storage.
 */
export class StepsAgent extends BaseChatAgent {
  static readonly component: ComponentDefinition<StepsAgentConfig, StepsAgent> = {
    provider: "chaos.StepsAgent",
    componentType: "agent",
    role: "agent",
    version: 1,
    configSchema,
    fromConfig: (config) => new StepsAgent(config),
  };

  readonly definition = StepsAgent.component;
  readonly producedMessageTypes = ["TextMessage"];
  #answered = 0;

  constructor({ name }: StepsAgentConfig) {
    super(name, "Takes steps of its own.");
  }

  async *onMessagesStream(
    messages: readonly ChatMessage[],
    ctx: TurnContext,
  ): AsyncGenerator<Message, AgentResponse, void> {
    const first = await ctx.step("first", ({ idempotencyKey }) => effect("first", idempotencyKey));
    const branches = ["left", "right"].map((key) => ({ key, run: this.#branch.bind(this, key) }));
    const results = yield* ctx.all(branches);
    const last = await ctx.step("last", ({ idempotencyKey }) => effect("last", idempotencyKey));
    this.#answered++;
    const content = [`${messages.length} messages`, first, ...results, last, this.#answered];
    const chatMessage = createMessage<TextMessage>(ctx, {
      type: "TextMessage",
      source: this.name,
      content: content.join(", "),
    });
    return { chatMessage, innerMessages: null };
  }

  onReset(): Promise<void> {
    this.#answered = 0;
    return Promise.resolve();
  }

  override saveState(): JsonObject {
    return { type: "StepsAgentState", version: "1.0.0", answered: this.#answered };
  }

  override loadState(state: JsonObject): void {
    this.#answered = Number(state.answered);
  }

  toConfig(): JsonObject {
    return { name: this.name };
  }

  async *#branch(name: string, ctx: TurnContext): AsyncGenerator<Message, string, void> {
    const one = await ctx.step("one", ({ idempotencyKey }) =>
      effect(`${name} one`, idempotencyKey),
    );
    const two = await ctx.step("two", ({ idempotencyKey }) =>
      effect(`${name} two`, idempotencyKey),
    );
    yield* [];
    return `${one}, ${two}`;
  }
}
