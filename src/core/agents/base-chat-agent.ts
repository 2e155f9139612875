import type { Component } from "../component/component.ts";
import type { JsonObject } from "../json.ts";
import type { ChatMessage, Message } from "../messages/message.ts";
import type { TurnContext } from "../run/turn-context.ts";
import { baseStateSchema, parseState } from "../state/load-state.ts";
import type { ChatAgent, AgentResponse } from "./chat-agent.ts";
import { requireIdentifier } from "./identifier.ts";

/**
 * Base class of agents (AutoGen `BaseChatAgent`): checks the name; pause, resume, close and the state methods do
 * nothing. A custom agent extends it and answers in `onMessagesStream`; side effects go through the context that it
 * gets.
 *
 * @throws ValueError when the name is not an identifier
 */
export abstract class BaseChatAgent implements ChatAgent {
  abstract readonly definition: Component["definition"];
  abstract readonly producedMessageTypes: readonly string[];
  readonly name: string;
  readonly description: string;

  constructor(name: string, description: string) {
    this.name = requireIdentifier(name, "the agent name");
    this.description = description;
  }

  abstract onMessagesStream(
    messages: readonly ChatMessage[],
    ctx: TurnContext,
  ): AsyncGenerator<Message, AgentResponse, void>;

  abstract onReset(ctx: TurnContext): Promise<void>;

  abstract toConfig(): JsonObject;

  onPause(): Promise<void> {
    return Promise.resolve();
  }

  onResume(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** An agent with state overrides this and {@link loadState}. */
  saveState(): JsonObject {
    return { type: "BaseState", version: "1.0.0" };
  }

  loadState(state: JsonObject): void {
    parseState(baseStateSchema, state, `the state of "${this.name}"`);
  }
}
