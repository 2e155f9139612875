import * as z from "zod";
import type { ChatCompletionContext } from "../../context/chat-completion-context.ts";
import { type ComponentModel, componentModelSchema } from "../../component/component-model.ts";
import {
  type ComponentLoader,
  dumpComponent,
  type Note,
  withoutNulls,
} from "../../component/component.ts";
import { TroupeError } from "../../errors.ts";
import type { JsonObject } from "../../json.ts";
import type { Memory } from "../../memories/memory.ts";
import type { StructuredMessageFactory } from "../../messages/structured-message-factory.ts";
import type { ChatCompletionClient } from "../../models/chat-completion-client.ts";
import { ReplayChatCompletionClient } from "../../models/clients/replay-chat-completion-client.ts";
import type { AnyTool } from "../../tools/tool.ts";
import type { Workbench } from "../../tools/workbench.ts";
import { humanApprovalConfig, humanApprovalSchema } from "../../turn/human-approval.ts";
import { handoffConfigSchema } from "../handoff.ts";
import { type AssistantAgentOptions, skillNamesSchema } from "./options.ts";
import type { AssistantSettings } from "./settings.ts";
import { toolSearchSchema } from "./tool-search.ts";

/**
 * An assistant in component JSON, version 2. `tools` is the older way to write a workbench. AutoGen also requires
 * `description`, `reflect_on_tool_use` and `tool_call_summary_format`; dumps have them.
 */
export const assistantConfigSchema = z
  .object({
    name: z.string(),
    model_client: componentModelSchema,
    tools: z.array(componentModelSchema).nullish(),
    workbench: z.array(componentModelSchema).nullish(),
    handoffs: z.array(handoffConfigSchema).nullish(),
    model_context: componentModelSchema.nullish(),
    memory: z.array(componentModelSchema).nullish(),
    description: z.string().optional(),
    system_message: z.string().nullish(),
    model_client_stream: z.boolean().default(false),
    reflect_on_tool_use: z.boolean().optional(),
    tool_call_summary_format: z.string().optional(),
    max_tool_iterations: z.number().int().min(1).default(1),
    tool_search: z.union([z.boolean(), toolSearchSchema]).nullish(),
    skills: skillNamesSchema.nullish(),
    ...humanApprovalSchema.shape,
    metadata: z.record(z.string(), z.string()).nullish(),
    structured_message_factory: componentModelSchema.nullish(),
  })
  .refine(({ approval, skills }) => approval == null || skills != null, {
    path: ["approval"],
    error:
      "has no effect without skills: it is about their scripts. Tools ask for approval, and code executor agents",
  });
export type AssistantConfig = z.infer<typeof assistantConfigSchema>;

/**
 * A config of version 1, where `workbench` was a single one. Undefined for a config with a list of them,
 * which is not version 1 even if labelled so.
 */
export function upgradeConfig(config: JsonObject): JsonObject | undefined {
  const { workbench } = config;
  if (Array.isArray(workbench)) return undefined;
  return workbench == null ? config : { ...config, workbench: [workbench] };
}

/**
 * The options of a config, with its components loaded. Config and options name each option once more because they are
 * two public contracts: AutoGen's JSON with components as JSON, and TypeScript with objects.
 */
export function optionsFromConfig(
  config: AssistantConfig,
  loader: ComponentLoader,
): AssistantAgentOptions {
  const tools = loadList<AnyTool>(
    config.tools,
    (tool, path) => loader.load(tool, "tool", path),
    "tools",
  );
  const workbench = loadList<Workbench>(
    config.workbench,
    (bench, path) => loader.load(bench, "workbench", path),
    "workbench",
  );
  const context = config.model_context;
  const factory = config.structured_message_factory;
  return {
    name: config.name,
    description: config.description,
    modelClient: loader.load<ChatCompletionClient>(config.model_client, "model", "model_client"),
    systemMessage: config.system_message ?? null,
    ...(tools && { tools }),
    ...(workbench && { workbench }),
    handoffs: config.handoffs ?? [],
    ...(context && {
      modelContext: loader.load<ChatCompletionContext>(
        context,
        "chat_completion_context",
        "model_context",
      ),
    }),
    memory:
      loadList<Memory>(config.memory, (one, path) => loader.load(one, "memory", path), "memory") ??
      [],
    modelClientStream: config.model_client_stream,
    reflectOnToolUse: config.reflect_on_tool_use,
    maxToolIterations: config.max_tool_iterations,
    ...(config.tool_search != null && { toolSearch: config.tool_search }),
    ...(config.skills && {
      skills: config.skills.map((name) => loader.skill(name) ?? name),
      scriptRunner: loader.scripts,
    }),
    approval: config.approval,
    approvalTimeoutSeconds: config.approval_timeout_seconds,
    toolCallSummaryFormat: config.tool_call_summary_format,
    metadata: config.metadata ?? {},
    ...(factory && {
      outputContentType: loader.load<StructuredMessageFactory>(
        factory,
        "structured_message",
        "structured_message_factory",
      ),
    }),
  };
}

/** Notes on parts that need more of the model than it can do, whose first call would fail. */
export function assistantNotes(
  config: AssistantConfig,
  loader: Pick<ComponentLoader, "load">,
): Note[] {
  const { name, model_client } = config;
  const listsTools = mayListTools(config);
  const factory = config.structured_message_factory;
  if (!listsTools && factory == null) return [];
  const client = loader.load<ChatCompletionClient>(model_client, "model", "model_client");
  const { functionCalling, structuredOutput } = client.modelInfo;
  const notes: Note[] = [];
  if (listsTools && !functionCalling)
    notes.push({
      path: "config.workbench",
      message:
        `the model of "${name}" does not call functions (model_info.function_calling is false), so each of its calls fails as soon ` +
        "as the workbench lists a tool: take another model, or leave the workbench out",
    });
  // Prepared answers may be structured, whatever the model info says.
  const isPrepared = client instanceof ReplayChatCompletionClient;
  if (factory != null && structuredOutput !== true && !isPrepared)
    notes.push({
      path: "config.structured_message_factory",
      message:
        `the model of "${name}" has no structured output (model_info.structured_output is not true), so each of its calls ` +
        "fails: take another model, or leave structured_message_factory out",
    });
  if (factory != null && structuredOutput === true) {
    const left = leftOutOf(client, loader, factory);
    if (left !== undefined)
      notes.push({
        path: "config.structured_message_factory",
        message: `each call of "${name}" is ${left}. Leave out structured_message_factory, or that setting of the model client`,
      });
  }
  return notes;
}

/**
 * The note about the parts that a client leaves out of every request for such an answer. Undefined if a request cannot be
 * written, for example without a key, which has a note of its own.
 */
function leftOutOf(
  client: ChatCompletionClient,
  loader: Pick<ComponentLoader, "load">,
  factory: ComponentModel,
): string | undefined {
  const { jsonOutput } = loader.load<StructuredMessageFactory>(
    factory,
    "structured_message",
    "structured_message_factory",
  );
  const message = { type: "UserMessage", source: "user", content: "-" } as const;
  try {
    return client.writeRequest?.([message], { jsonOutput }, { streamed: false })?.note;
  } catch (error) {
    if (error instanceof TroupeError) return undefined;
    throw error;
  }
}

/** A workbench lists its tools only when the agent runs, so a model without tool calls is detected earlier. */
function mayListTools({ workbench }: AssistantConfig): boolean {
  return (
    workbench?.some(({ config: { tools } }) => !(Array.isArray(tools) && tools.length === 0)) ??
    false
  );
}

/** The components of a list; undefined when there are none, so that the default stays. */
function loadList<T>(
  models: readonly ComponentModel[] | null | undefined,
  load: (model: ComponentModel, path: string) => T,
  key: string,
): T[] | undefined {
  if (models == null || models.length === 0) return undefined;
  return models.map((model, index) => load(model, `${key}[${index}]`));
}

export function configOf(settings: AssistantSettings, description: string): JsonObject {
  const { workbenches, handoffs, memory, output } = settings;
  return withoutNulls({
    name: settings.name,
    model_client: dumpComponent(settings.modelClient),
    workbench: workbenches.length > 0 ? workbenches.map((bench) => dumpComponent(bench)) : null,
    handoffs: handoffs.length > 0 ? handoffs.map((handoff) => ({ ...handoff })) : null,
    model_context: dumpComponent(settings.modelContext),
    memory: memory.length > 0 ? memory.map((store) => dumpComponent(store)) : null,
    description,
    system_message: settings.systemMessage?.content,
    model_client_stream: settings.modelClientStream,
    reflect_on_tool_use: settings.reflectOnToolUse,
    tool_call_summary_format: settings.toolCallSummaryFormat,
    max_tool_iterations: settings.maxToolIterations,
    tool_search: settings.toolSearch?.toConfig(),
    skills: settings.skills?.toConfig(),
    ...humanApprovalConfig(settings.approval),
    metadata: settings.metadata,
    structured_message_factory: output && dumpComponent(output),
  });
}
