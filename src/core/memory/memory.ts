import type { Component } from "../component/component.ts";
import type { ChatCompletionContext } from "../context/chat-completion-context.ts";
import type { TurnContext } from "../run/turn-context.ts";
import type { Stateful } from "../state/stateful.ts";
import type { MemoryContent } from "./memory-content.ts";

/** A store an agent consults before it answers (AutoGen `Memory`). Network queries take steps of `ctx`. */
export interface Memory extends Component, Stateful {
  readonly name: string;
  /** Adds the relevant contents to the context and returns them. */
  updateContext(context: ChatCompletionContext, ctx: TurnContext): Promise<MemoryContent[]>;
  query(query: string | MemoryContent, ctx: TurnContext): Promise<MemoryContent[]>;
  add(content: MemoryContent, ctx: TurnContext): Promise<void>;
  clear(ctx: TurnContext): Promise<void>;
  close(): Promise<void>;
}
