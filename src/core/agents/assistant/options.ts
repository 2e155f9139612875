import type * as z from "zod";
import type { ChatCompletionContext } from "../../context/chat-completion-context.ts";
import type { StructuredMessageFactory } from "../../messages/structured-message-factory.ts";
import type { Memory } from "../../memory/memory.ts";
import type { ChatCompletionClient } from "../../models/chat-completion-client.ts";
import type { FunctionCall, FunctionExecutionResult } from "../../models/llm-messages.ts";
import type { AnyTool } from "../../tools/tool.ts";
import type { Workbench } from "../../tools/workbench.ts";
import type { HandoffOptions } from "../handoff.ts";

/** The summary of one tool call, instead of `toolCallSummaryFormat`. */
export type ToolCallSummaryFormatter = (
  call: FunctionCall,
  result: FunctionExecutionResult,
) => string;

export interface AssistantAgentOptions {
  /** An identifier, unique in the team. */
  name: string;
  modelClient: ChatCompletionClient;
  /** What other agents and managers are told about this one. */
  description?: string | undefined;
  /** Null: none. */
  systemMessage?: string | null;
  /** Either tools or workbenches. */
  tools?: readonly AnyTool[];
  workbench?: Workbench | readonly Workbench[];
  /** Agents the model may hand over to, by name or with texts of their own. */
  handoffs?: readonly (string | HandoffOptions)[];
  /** Selects the part of the conversation that the model sees. Default: all of it. */
  modelContext?: ChatCompletionContext;
  /** Consulted before every answer. */
  memory?: readonly Memory[];
  /** Whether the model's text is yielded in pieces while it arrives. Default false. */
  modelClientStream?: boolean;
  /**
   * Whether the model is asked once more, without tools, to answer from the tools' results. Default false, or true
   * with `outputContentType`. Without it the answer is a summary of the results.
   */
  reflectOnToolUse?: boolean | undefined;
  /** Model calls that may ask for tools, per answer. Default 1. */
  maxToolIterations?: number;
  /** Python format over `{tool_name}`, `{arguments}`, `{result}`, `{is_error}`. Default `{result}`. */
  toolCallSummaryFormat?: string | undefined;
  toolCallSummaryFormatter?: ToolCallSummaryFormatter;
  /** The answer is a structured message with this content. */
  outputContentType?: z.ZodObject | StructuredMessageFactory;
  /** Python format over the content's fields: the structured message as text. A factory has its own. */
  outputContentTypeFormat?: string | null;
  /** Kept in the component JSON. */
  metadata?: { [key: string]: string };
}
