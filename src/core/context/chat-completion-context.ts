import type { Component } from "../component/component.ts";
import type { ChatCompletionClient } from "../models/chat-completion-client.ts";
import type { LLMMessage } from "../models/llm-messages.ts";
import type { Stateful } from "../state/stateful.ts";
import type { TurnContext } from "../turn/turn-context.ts";

/** A model call that is about to be made with a context. */
export interface ModelCallAhead {
  /** A scope of its own for each call. */
  ctx: TurnContext;
  /** The model that is called. */
  modelClient: ChatCompletionClient;
}

/** The conversation that an agent keeps, and the part of it that its model sees (AutoGen `ChatCompletionContext`). */
export interface ChatCompletionContext extends Component, Stateful {
  addMessage(message: LLMMessage): void;
  /** Called before a model call gets the messages, for a context that prepares them in steps of the turn. */
  prepare?(call: ModelCallAhead): Promise<void>;
  /** The messages for the next model call. Of a long context, it reads only the part that it shows. */
  getMessages(): Promise<LLMMessage[]>;
  /** Removes all messages, including the initial ones. */
  clear(): void;
}
