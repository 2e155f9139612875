import type { CodeExecutor } from "../../code/code-executor.ts";
import type { ChatCompletionContext } from "../../context/chat-completion-context.ts";
import { UnboundedChatCompletionContext } from "../../context/base-chat-completion-context.ts";
import { ValueError } from "../../errors.ts";
import type { ChatCompletionClient } from "../../models/chat-completion-client.ts";
import type { SystemMessage } from "../../models/llm-messages.ts";
import { type HumanApproval, humanApproval } from "../../turn/human-approval.ts";
import type { ApprovalFunction } from "./approval-function.ts";
import type { CodeExecutorAgentOptions } from "./options.ts";
import { type ExecutorPrompts, promptsOf } from "./prompts.ts";

/** A code executor agent's options, checked and completed. They are constant; only the parts in them have state. */
export interface ExecutorSettings {
  name: string;
  codeExecutor: CodeExecutor;
  modelClient: ChatCompletionClient | undefined;
  modelContext: ChatCompletionContext;
  systemMessage: SystemMessage | null;
  stream: boolean;
  maxRetries: number;
  sources: readonly string[] | null;
  languages: readonly string[];
  /** At most one of the two. */
  approve: ApprovalFunction | null;
  humanApproval: HumanApproval | null;
  prompts: ExecutorPrompts;
  /** The prompts that were given. */
  givenPrompts: Partial<ExecutorPrompts> | undefined;
}

const SYSTEM_MESSAGE =
  "You solve tasks by writing code, which is run for you. Put Python into ```python blocks and shell scripts into ```sh blocks; each block must be complete and print what you want to know. You are then shown what was printed.";

const LANGUAGES = ["python", "sh"];

/** @throws ValueError for options that contradict each other */
export function settingsOf(options: CodeExecutorAgentOptions): ExecutorSettings {
  const { systemMessage = SYSTEM_MESSAGE, maxRetriesOnError: maxRetries = 0 } = options;
  checkRetries(options.name, maxRetries, options.modelClient);
  if (options.approvalFunc && options.approval) {
    throw refused("approval", "either a function or a human approves, not both");
  }
  return {
    name: options.name,
    codeExecutor: options.codeExecutor,
    modelClient: options.modelClient,
    modelContext: options.modelContext ?? new UnboundedChatCompletionContext(),
    systemMessage:
      systemMessage === null ? null : { content: systemMessage, type: "SystemMessage" },
    stream: options.modelClientStream ?? false,
    maxRetries,
    sources: options.sources ?? null,
    languages: options.supportedLanguages ?? LANGUAGES,
    approve: options.approvalFunc ?? null,
    humanApproval: humanApproval(options.approval, options.approvalTimeoutSeconds),
    prompts: promptsOf(options.prompts),
    givenPrompts: options.prompts,
  };
}

/** The retry decision is requested as structured output. */
function checkRetries(name: string, retries: number, client: ChatCompletionClient | undefined) {
  if (!Number.isInteger(retries) || retries < 0) {
    throw refused(
      "max_retries_on_error",
      `maxRetriesOnError must be a whole number from 0, not ${retries}`,
    );
  }
  if (retries > 0 && client?.modelInfo.structuredOutput !== true) {
    throw refused(
      "max_retries_on_error",
      `"${name}" can only retry with a model that has structured output, which decides whether to`,
    );
  }
}

function refused(path: string, message: string): ValueError {
  return new ValueError(message, { issues: [{ path, message }] });
}
