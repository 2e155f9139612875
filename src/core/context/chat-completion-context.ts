import type { Component } from "../component/component.ts";
import type { LLMMessage } from "../models/llm-messages.ts";
import type { Stateful } from "../state/stateful.ts";

/** The conversation that an agent keeps, and the part of it that its model sees (AutoGen `ChatCompletionContext`). */
export interface ChatCompletionContext extends Component, Stateful {
  addMessage(message: LLMMessage): void;
  /** The messages for the next model call. Reads no more of a long context than it shows. */
  getMessages(): Promise<LLMMessage[]>;
  /** Empties it, initial messages included. */
  clear(): void;
}
