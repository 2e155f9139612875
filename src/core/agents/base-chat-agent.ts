import type { Component } from "../component/component.ts";
import type { JsonObject } from "../json.ts";
import type { ChatMessage, Message } from "../messages/message.ts";
import type { TurnContext } from "../run/turn-context.ts";
import { baseStateSchema, parseState } from "../state/load-state.ts";
import type { ChatAgent, Response } from "./chat-agent.ts";
import { requireIdentifier } from "./identifier.ts";

/**
 * What agents have in common (AutoGen `BaseChatAgent`): a checked name, and nothing to do on pause, resume, close
 * and for state. An agent of your own extends it and answers in `onMessagesStream`; what has effects goes through
 * the context it is given.
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
  ): AsyncGenerator<Message, Response, void>;

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

  /** An agent that remembers something overrides this and {@link loadState}. */
  saveState(): JsonObject {
    return { type: "BaseState", version: "1.0.0" };
  }

  loadState(state: JsonObject): void {
    parseState(baseStateSchema, state, `the state of "${this.name}"`);
  }
}
