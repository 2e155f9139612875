import type { ChatCompletionContext } from "../../context/chat-completion-context.ts";
import { UnboundedChatCompletionContext } from "../../context/unbounded-chat-completion-context.ts";
import { ValueError } from "../../errors.ts";
import type { Memory } from "../../memory/memory.ts";
import { StructuredMessageFactory } from "../../messages/structured-message-factory.ts";
import { jsonSchemaOf } from "../../json-schema/from-zod.ts";
import type { ChatCompletionClient, ToolSchema } from "../../models/chat-completion-client.ts";
import type { SystemMessage } from "../../models/llm-messages.ts";
import { StaticStreamWorkbench } from "../../tools/static-workbench.ts";
import type { Workbench } from "../../tools/workbench.ts";
import { requireTemplates } from "../../text/check-format.ts";
import { createHandoff, type Handoff, handoffTool } from "../handoff.ts";
import type { AssistantAgentOptions, ToolCallSummaryFormatter } from "./options.ts";

/** An assistant's options, checked and completed. None of it changes; what changes is inside the parts. */
export interface AssistantSettings {
  name: string;
  modelClient: ChatCompletionClient;
  systemMessage: SystemMessage | null;
  workbenches: readonly Workbench[];
  /** By the name of their tool. */
  handoffs: ReadonlyMap<string, Handoff>;
  handoffTools: readonly ToolSchema[];
  modelContext: ChatCompletionContext;
  memory: readonly Memory[];
  stream: boolean;
  reflectOnToolUse: boolean;
  maxToolIterations: number;
  summaryFormat: string;
  summaryFormatter: ToolCallSummaryFormatter | undefined;
  output: StructuredMessageFactory | undefined;
  metadata: { [key: string]: string };
}

const SYSTEM_MESSAGE =
  "You are a helpful assistant. Use your tools where they help, and write TERMINATE once the task is done.";

const SUMMARY_EXAMPLE = { tool_name: "", arguments: "", result: "", is_error: false };

/** @throws ValueError for what does not go together */
export function settingsOf(options: AssistantAgentOptions): AssistantSettings {
  const { tools = [], systemMessage = SYSTEM_MESSAGE, maxToolIterations = 1 } = options;
  const handoffs = (options.handoffs ?? []).map(createHandoff);
  const output = outputOf(options);
  checkNames(
    tools.map(({ name }) => name),
    handoffs,
  );
  if (tools.length + handoffs.length > 0 && !options.modelClient.modelInfo.function_calling) {
    throw refused(
      "model_client",
      `the model of "${options.name}" does not call functions, which tools and handoffs need`,
    );
  }
  if (!Number.isInteger(maxToolIterations) || maxToolIterations < 1) {
    throw refused(
      "max_tool_iterations",
      `maxToolIterations must be a whole number from 1, not ${maxToolIterations}`,
    );
  }
  const summaryFormat = options.toolCallSummaryFormat ?? "{result}";
  requireTemplates([
    { path: "tool_call_summary_format", template: summaryFormat, example: SUMMARY_EXAMPLE },
  ]);
  return {
    name: options.name,
    modelClient: options.modelClient,
    systemMessage:
      systemMessage === null ? null : { content: systemMessage, type: "SystemMessage" },
    workbenches: workbenchesOf(options),
    handoffs: new Map(handoffs.map((handoff) => [handoff.name, handoff])),
    handoffTools: handoffs.map(handoffTool),
    modelContext: options.modelContext ?? new UnboundedChatCompletionContext(),
    memory: options.memory ?? [],
    stream: options.modelClientStream ?? false,
    reflectOnToolUse: options.reflectOnToolUse ?? output !== undefined,
    maxToolIterations,
    summaryFormat,
    summaryFormatter: options.toolCallSummaryFormatter,
    output,
    metadata: options.metadata ?? {},
  };
}

function workbenchesOf({ tools = [], workbench }: AssistantAgentOptions): readonly Workbench[] {
  if (workbench === undefined) return [new StaticStreamWorkbench(tools)];
  if (tools.length > 0) throw refused("tools", "give either tools or workbenches, not both");
  return "callTool" in workbench ? [workbench] : workbench;
}

function checkNames(tools: readonly string[], handoffs: readonly Handoff[]): void {
  const names = [...tools, ...handoffs.map(({ name }) => name)];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    throw refused(
      "handoffs",
      `the names of tools and handoffs must be unique; "${twice}" is used twice`,
    );
  }
  const target = handoffs.find((handoff) => tools.includes(handoff.target));
  if (target !== undefined) {
    throw refused("handoffs", `"${target.target}" is both a tool and the target of a handoff`);
  }
}

/** @param path the key in component JSON */
function refused(path: string, message: string): ValueError {
  return new ValueError(message, { issues: [{ path, message }] });
}

function outputOf(options: AssistantAgentOptions): StructuredMessageFactory | undefined {
  const { outputContentType, outputContentTypeFormat } = options;
  if (outputContentType === undefined) return undefined;
  if (!("_zod" in outputContentType)) return outputContentType;
  const jsonSchema = jsonSchemaOf(outputContentType);
  return new StructuredMessageFactory({
    jsonSchema,
    formatString: outputContentTypeFormat ?? null,
    contentModelName: typeof jsonSchema.title === "string" ? jsonSchema.title : null,
  });
}
