import * as z from "zod";
import {
  BaseChatAgent,
  createMessage,
  type JsonObject,
  registerComponent,
  type AgentResponse,
  type TextMessage,
  type TurnContext,
} from "troupe";
import app, { MemoryObject, TeamObject, TenantObject } from "troupe/worker";

let turns = 0;

/** An agent that speaks once. From then on it waits, outside of a step, for something that does not come. */
class WaitingAgent extends BaseChatAgent {
  static readonly component = {
    provider: "test.WaitingAgent",
    componentType: "agent",
    role: "agent",
    version: 1,
    configSchema: z.object({ name: z.string() }),
    fromConfig: ({ name }: { name: string }) => new WaitingAgent(name, "waits"),
  } as const;

  readonly definition = WaitingAgent.component;
  readonly producedMessageTypes = ["TextMessage"];

  async *onMessagesStream(
    _messages: unknown,
    ctx: TurnContext,
  ): AsyncGenerator<never, AgentResponse> {
    yield* [];
    if (turns++ > 0) await new Promise(() => {});
    const message = createMessage<TextMessage>(ctx, {
      type: "TextMessage",
      source: this.name,
      content: "Ready.",
    });
    return { chatMessage: message, innerMessages: null };
  }

  onReset(): Promise<void> {
    return Promise.resolve();
  }

  /** Fields that runs and questions of the API have, too. */
  override saveState(): JsonObject {
    return { runs: ["one", 2, null], requests: [null] };
  }

  override loadState(): void {}

  toConfig(): { name: string } {
    return { name: this.name };
  }
}

registerComponent(WaitingAgent.component);

export { MemoryObject, TeamObject, TenantObject };
export default app;
