import type { Component } from "../component/component.ts";
import type { ChatCompletionContext } from "../context/chat-completion-context.ts";
import type { ChatMessage } from "../messages/message.ts";
import type { StreamTool } from "../tools/tool.ts";
import type { TurnContext } from "../turn/turn-context.ts";
import type { Stateful } from "../state/stateful.ts";
import type { Citation } from "../memory/memory-host.ts";
import type { MemoryContent } from "../memory/memory-content.ts";

/** A store that an agent queries before it answers (AutoGen `Memory`). Network queries are steps of `ctx`. */
export interface Memory extends Component, Stateful {
  readonly name: string;
  /** Tools with which the agent edits the memory; assistant agents offer them beside their own. */
  readonly tools?: readonly StreamTool[] | undefined;
  /**
   * Adds the relevant contents to the context and returns them.
   *
   * @param cite takes the parts of documents that the agent's answer is to cite
   */
  updateContext(
    context: ChatCompletionContext,
    ctx: TurnContext,
    cite?: (citations: readonly Citation[]) => void,
  ): Promise<MemoryContent[]>;
  /** Called before each model call of a turn but the first, before which the context was updated. */
  beforeCall?(ctx: TurnContext): Promise<void>;
  /** Added to the agent's system message at every model call. */
  systemText?(ctx: TurnContext): string | undefined;
  /** The agent was given these messages, or answers with them. */
  observe?(messages: readonly ChatMessage[]): void;
  query(query: string | MemoryContent, ctx: TurnContext): Promise<MemoryContent[]>;
  add(content: MemoryContent, ctx: TurnContext): Promise<void>;
  clear(ctx: TurnContext): Promise<void>;
  close(): Promise<void>;
}
