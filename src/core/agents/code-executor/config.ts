import * as z from "zod";
import { componentModelSchema } from "../../component/component-model.ts";
import { type ComponentLoader, dumpComponent, withoutNulls } from "../../component/component.ts";
import { functionName } from "../../component/functions.ts";
import { TroupeError } from "../../errors.ts";
import type { JsonObject } from "../../json.ts";
import { humanApprovalConfig, humanApprovalSchema } from "../../turn/human-approval.ts";
import type { ApprovalFunction } from "./approval-function.ts";
import type { CodeExecutorAgentOptions } from "./options.ts";
import { optionsOf, parseOptions } from "../../options/option-names.ts";
import { executorPromptsSchema } from "./prompts.ts";
import type { ExecutorSettings } from "./settings.ts";

/** A code executor agent in component JSON; the keys from `max_retries_on_error` on are Troupe's own. */
export const codeExecutorConfigSchema = z.object({
  name: z.string(),
  code_executor: componentModelSchema,
  model_client: componentModelSchema.nullish(),
  description: z.string().nullish(),
  sources: z.array(z.string()).nullish(),
  system_message: z.string().nullish(),
  model_client_stream: z.boolean().default(false),
  model_context: componentModelSchema.nullish(),
  supported_languages: z.array(z.string()).nullish(),
  max_retries_on_error: z.number().int().min(0).default(0),
  executor_prompts: executorPromptsSchema.nullish(),
  approval_func: z.string().nullish(),
  ...humanApprovalSchema.shape,
});
export type CodeExecutorConfig = z.infer<typeof codeExecutorConfigSchema>;

/** The options a config stands for, its components loaded. */
export function optionsFromConfig(
  config: CodeExecutorConfig,
  loader: ComponentLoader,
): CodeExecutorAgentOptions {
  const { model_client: client, model_context: context, approval_func: approve } = config;
  return {
    name: config.name,
    codeExecutor: loader.load(config.code_executor, "code_executor", "code_executor"),
    modelClient: client ? loader.load(client, "model", "model_client") : undefined,
    modelContext: context
      ? loader.load(context, "chat_completion_context", "model_context")
      : undefined,
    description: config.description,
    sources: config.sources,
    systemMessage: config.system_message ?? null,
    modelClientStream: config.model_client_stream,
    supportedLanguages: config.supported_languages,
    maxRetriesOnError: config.max_retries_on_error,
    ...(config.executor_prompts && {
      prompts: optionsOf(executorPromptsSchema, config.executor_prompts),
    }),
    approvalFunc: approve ? loader.function<ApprovalFunction>(approve, "approval_func") : undefined,
    approval: config.approval,
    approvalTimeoutSeconds: config.approval_timeout_seconds,
  };
}

/** @throws TroupeError `not_serializable` when code has to be approved by a function without a name */
export function configOf(settings: ExecutorSettings, description: string): JsonObject {
  const { approve, modelClient, maxRetries } = settings;
  const approval = functionName(approve);
  if (approve !== null && approval === undefined) {
    throw new TroupeError(
      "not_serializable",
      `the approval function of "${settings.name}" has no name in component JSON, which would run code unapproved; register it with registerFunction`,
    );
  }
  return withoutNulls({
    name: settings.name,
    model_client: modelClient && dumpComponent(modelClient),
    code_executor: dumpComponent(settings.codeExecutor),
    description,
    sources: settings.sources,
    system_message: settings.systemMessage?.content,
    model_client_stream: settings.stream,
    model_context: dumpComponent(settings.modelContext),
    supported_languages: settings.languages,
    max_retries_on_error: maxRetries > 0 ? maxRetries : null,
    executor_prompts:
      settings.givenPrompts &&
      parseOptions(executorPromptsSchema, settings.givenPrompts, "prompts"),
    approval_func: approval,
    ...humanApprovalConfig(settings.humanApproval),
  });
}
