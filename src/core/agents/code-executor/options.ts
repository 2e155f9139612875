import * as z from "zod";
import type { CodeExecutor } from "../../code/code-executor.ts";
import type { ChatCompletionContext } from "../../context/chat-completion-context.ts";
import type { ChatCompletionClient } from "../../models/chat-completion-client.ts";
import { type Approval, approvalSchema } from "../../rules/approval-rule.ts";
import type { ApprovalFunction } from "./approval-function.ts";
import type { ExecutorPrompts } from "./prompts.ts";
import {
  aBoolean,
  aCodeExecutor,
  aFunction,
  aModelClient,
  aModelContext,
  aNumber,
  anything,
  aText,
  type OptionsSchema,
  texts,
} from "../../options/options.ts";

export interface CodeExecutorAgentOptions {
  /** An identifier, unique in the team. */
  name: string;
  /** Runs the code. */
  codeExecutor: CodeExecutor;
  /** Writes code and reads its output. Without one the agent runs the code it finds in messages. */
  modelClient?: ChatCompletionClient | undefined;
  /** Selects the part of the conversation that the model sees. Default: all of it. */
  modelContext?: ChatCompletionContext | undefined;
  /** True to yield the model's text, and the output of code, in pieces while it arrives. Default false. */
  modelClientStream?: boolean | undefined;
  /** The number of times that the model may rewrite code that failed. Default 0. */
  maxRetriesOnError?: number | undefined;
  /** The description that other agents and managers see. */
  description?: string | null | undefined;
  /** Null for none. */
  systemMessage?: string | null | undefined;
  /** The sources whose messages an agent without a model searches for code. Default: all. */
  sources?: readonly string[] | null | undefined;
  /** Languages of blocks to run; others are ignored. Default `python` and `sh`. */
  supportedLanguages?: readonly string[] | null | undefined;
  /** Asked before code is run. Component JSON names it, if it is registered (`registerFunction`). */
  approvalFunc?: ApprovalFunction | null | undefined;
  /** Asks a human, instead of `approvalFunc`. In a Durable Object the run waits, for days if necessary. */
  approval?: Approval | null | undefined;
  /** Seconds after which unanswered code counts as refused. Default: no limit. */
  approvalTimeoutSeconds?: number | null | undefined;
  /** Replacements for the agent's texts. */
  prompts?: Partial<ExecutorPrompts> | undefined;
}

export const executorOptionsSchema: OptionsSchema<CodeExecutorAgentOptions> = z.object({
  name: aText,
  codeExecutor: aCodeExecutor,
  modelClient: aModelClient.optional(),
  modelContext: aModelContext.optional(),
  modelClientStream: aBoolean.optional(),
  maxRetriesOnError: aNumber.optional(),
  description: aText.nullish(),
  systemMessage: aText.nullish(),
  sources: texts.nullish(),
  supportedLanguages: texts.nullish(),
  approvalFunc: aFunction.nullish(),
  approval: approvalSchema.nullish(),
  approvalTimeoutSeconds: aNumber.nullish(),
  prompts: anything,
});
