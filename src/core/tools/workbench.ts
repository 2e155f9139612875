import type { Component } from "../component/component.ts";
import type { JsonObject } from "../json.ts";
import type { Message } from "../messages/message.ts";
import type { ToolSchema } from "../models/chat-completion-client.ts";
import type { SkillSource } from "../skills/skill-source.ts";
import type { TurnContext } from "../turn/turn-context.ts";
import type { Stateful } from "../state/stateful.ts";
import type { ToolCallContext, ToolResult } from "./tool.ts";

/** A set of tools that may share state and resources (AutoGen `Workbench`). */
export interface Workbench extends Component, Stateful {
  listTools(call: Pick<ToolCallContext, "ctx">): Promise<ToolSchema[]>;
  /**
   * Calls a tool; yields the messages of a composite tool's agents and returns the result. Makes its own steps, with keys
   * below `call.ctx`. Unknown names, bad arguments and errors of the tool are results with `is_error`; signals pass.
   */
  callTool(
    name: string,
    args: JsonObject,
    call: ToolCallContext,
  ): AsyncGenerator<Message, ToolResult, void>;
  /** The skills of a server that has some. Its steps are below `ctx`. */
  skills?(ctx: TurnContext): SkillSource | undefined;
  reset(): Promise<void>;
  /** For workbenches with agents inside: the run is paused and resumed. */
  onPause?(): Promise<void>;
  onResume?(): Promise<void>;
  close(): Promise<void>;
}
