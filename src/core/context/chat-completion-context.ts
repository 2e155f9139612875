import type { Component } from "../component/component.ts";
import type { LLMMessage } from "../models/llm-messages.ts";
import type { Stateful } from "../state/stateful.ts";

/** What an agent remembers for its model, and how much of it the model gets to see (AutoGen `ChatCompletionContext`). */
export interface ChatCompletionContext extends Component, Stateful {
  addMessage(message: LLMMessage): void;
  /** The messages for the next model call. Reads no more of a long context than it shows. */
  getMessages(): Promise<LLMMessage[]>;
  /** Empties it, initial messages included. */
  clear(): void;
}
