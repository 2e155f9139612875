import type { CodeExecutor } from "../../code/code-executor.ts";
import type { ChatCompletionContext } from "../../context/chat-completion-context.ts";
import type { ChatCompletionClient } from "../../models/chat-completion-client.ts";
import type { ApprovalFunction } from "./approval-function.ts";
import type { ExecutorPrompts } from "./prompts.ts";

export interface CodeExecutorAgentOptions {
  /** An identifier, unique in the team. */
  name: string;
  /** Runs the code. */
  codeExecutor: CodeExecutor;
  /** Writes code and reads its output. Without one the agent runs the code it finds in messages. */
  modelClient?: ChatCompletionClient | undefined;
  /** Selects the part of the conversation that the model sees. Default: all of it. */
  modelContext?: ChatCompletionContext | undefined;
  /** Whether the model's text, and the output of code, is yielded in pieces while it arrives. Default false. */
  modelClientStream?: boolean | undefined;
  /** How often the model may rewrite code that failed. Default 0. */
  maxRetriesOnError?: number | undefined;
  /** What other agents and managers are told about this one. */
  description?: string | null | undefined;
  /** Null: none. */
  systemMessage?: string | null | undefined;
  /** The sources whose messages an agent without a model searches for code. Default: all. */
  sources?: readonly string[] | null | undefined;
  /** Languages of blocks that are run; others are left alone. Default `python` and `sh`. */
  supportedLanguages?: readonly string[] | null | undefined;
  /** Asked before code is run. Component JSON names it, if it is registered (`registerFunction`). */
  approvalFunc?: ApprovalFunction | null | undefined;
  /** Asks a human, instead of `approvalFunc`. In a Durable Object the run waits, for days if necessary. */
  approval?: "human" | null | undefined;
  /** Seconds after which unanswered code counts as refused. Default: no limit. */
  approvalTimeoutSeconds?: number | null | undefined;
  /** Replacements for the agent's texts. */
  prompts?: Partial<ExecutorPrompts> | undefined;
}
