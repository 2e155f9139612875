import * as z from "zod";
import { type Approval, approvalSchema } from "../../rules/approval-rule.ts";
import type { ChatCompletionContext } from "../../context/chat-completion-context.ts";
import { isSchema, type ObjectSchema } from "../../json-schema/object-schema.ts";
import { StructuredMessageFactory } from "../../messages/structured-message-factory.ts";
import type { Memory } from "../../memories/memory.ts";
import type { ChatCompletionClient } from "../../models/chat-completion-client.ts";
import type { FunctionCall, FunctionExecutionResult } from "../../models/llm-messages.ts";
import type { AnyTool } from "../../tools/tool.ts";
import { toolsSchema } from "../../tools/tools-schema.ts";
import type { Workbench } from "../../tools/workbench.ts";
import {
  aBoolean,
  aFunction,
  aList,
  aMemory,
  aModelClient,
  aModelContext,
  aNumber,
  aText,
  aWorkbench,
  objectWith,
  type OptionsSchema,
  valueThat,
} from "../../options/options.ts";
import type { HandoffOptions } from "../handoff.ts";
import type { ScriptRunner } from "../../skills/script-runner.ts";
import type { NamedSkill } from "../../skills/skill-source.ts";
import { type ToolSearchOptions, toolSearchSchema } from "./tool-search.ts";

/** The summary of one tool call, instead of `toolCallSummaryFormat`. */
export type ToolCallSummaryFormatter = (
  call: FunctionCall,
  result: FunctionExecutionResult,
) => string;

/** `Output` is the content type of its answers, with `outputContentType`. */
export interface AssistantAgentOptions<Output = unknown> {
  /** An identifier, unique in the team. */
  name: string;
  modelClient: ChatCompletionClient;
  /** The description that other agents and managers see. */
  description?: string | undefined;
  /** Null for none. */
  systemMessage?: string | null | undefined;
  /** Tools or workbenches, not both. */
  tools?: readonly AnyTool[] | undefined;
  workbench?: Workbench | readonly Workbench[] | undefined;
  /** Agents to which the model may hand over, by name or as a {@link Handoff} with its own texts. */
  handoffs?: readonly (string | HandoffOptions)[] | undefined;
  /** Selects the part of the conversation that the model sees. Default: all of it. */
  modelContext?: ChatCompletionContext | undefined;
  /** Consulted before every answer. */
  memory?: readonly Memory[] | undefined;
  /** True to yield the model's text in pieces while it arrives. Default false. */
  modelClientStream?: boolean | undefined;
  /**
   * True to ask the model once more, without tools, to answer from the tools' results. Default false, or true
   * with `outputContentType`. Without it the answer is a summary of the results.
   */
  reflectOnToolUse?: boolean | undefined;
  /** The most model calls per answer that may request tools. Default 1. */
  maxToolIterations?: number | undefined;
  /**
   * Offers the model a search instead of all tools, if there are more than 20: it gets the tools in `always`, `search_tools`, and what
   * that has found in the run. Default false.
   */
  toolSearch?: boolean | ToolSearchOptions | undefined;
  /**
   * Skills of the tenant by name, or skills in code: the model gets their names and descriptions, and loads their instructions when a
   * task needs them. The skills of MCP servers among the workbenches are added to them. Default: none.
   */
  skills?: readonly (string | NamedSkill)[] | undefined;
  /** Runs the scripts of skills. Default: without one, a script is an error of its tool. */
  scriptRunner?: ScriptRunner | undefined;
  /** Asks a human before each script of a skill. */
  approval?: Approval | null | undefined;
  /** Seconds after which an unanswered request counts as refused. */
  approvalTimeoutSeconds?: number | null | undefined;
  /** Python format over `{tool_name}`, `{arguments}`, `{result}`, `{is_error}`. Default `{result}`. */
  toolCallSummaryFormat?: string | undefined;
  toolCallSummaryFormatter?: ToolCallSummaryFormatter | undefined;
  /** The answer is a structured message with this content, which is also `output` of the run's result. */
  outputContentType?: ObjectSchema<Output> | StructuredMessageFactory | undefined;
  /** Python format over the content's fields: the structured message as text. A factory has its own. */
  outputContentTypeFormat?: string | null | undefined;
  /** Kept in the component JSON. */
  metadata?: { [key: string]: string } | undefined;
}

/** The most skills of an agent. */
const MAX_SKILLS = 100;

export const skillNamesSchema = z
  .array(
    z
      .string()
      .regex(
        /^[a-z0-9]+(?:-[a-z0-9]+)*$/,
        "must be the name of a skill: lower-case letters, digits and single hyphens between them",
      )
      .max(64),
  )
  .max(MAX_SKILLS)
  .refine((names) => new Set(names).size === names.length, "must not name a skill twice");

export const assistantOptionsSchema: OptionsSchema<AssistantAgentOptions> = z.object({
  name: aText,
  modelClient: aModelClient,
  description: aText.optional(),
  systemMessage: aText.nullish(),
  tools: toolsSchema.optional(),
  workbench: z.union([aWorkbench, z.array(aWorkbench)]).optional(),
  handoffs: aList.optional(),
  modelContext: aModelContext.optional(),
  memory: z.array(aMemory).optional(),
  modelClientStream: aBoolean.optional(),
  reflectOnToolUse: aBoolean.optional(),
  maxToolIterations: aNumber.optional(),
  toolSearch: z.union([aBoolean, toolSearchSchema]).optional(),
  skills: z
    .array(z.union([aText, objectWith("a skill", "find", "open", "read", "files")]))
    .optional(),
  scriptRunner: objectWith("a runner of scripts", "run").optional(),
  approval: approvalSchema.nullish(),
  approvalTimeoutSeconds: aNumber.nullish(),
  toolCallSummaryFormat: aText.optional(),
  toolCallSummaryFormatter: aFunction.optional(),
  outputContentType: valueThat(
    "a zod object, or a StructuredMessageFactory",
    (value) => value instanceof StructuredMessageFactory || isSchema(value),
  ).optional(),
  outputContentTypeFormat: aText.nullish(),
  metadata: z.record(z.string(), z.string()).optional(),
});
