import type { AnyComponentDefinition } from "../../component/component.ts";
import { UnboundedChatCompletionContext } from "../../context/base-chat-completion-context.ts";
import { ValueError } from "../../errors.ts";
import { StructuredMessageFactory } from "../../messages/structured-message-factory.ts";
import { jsonSchemaOf } from "../../json-schema/object-schema.ts";
import type { ToolSchema } from "../../models/chat-completion-client.ts";
import type { SystemMessage } from "../../models/llm-messages.ts";
import { StaticStreamWorkbench } from "../../tools/static-workbench.ts";
import type { Workbench } from "../../tools/workbench.ts";
import type { Given } from "../../options/options.ts";
import { requireTemplates } from "../../text/check-format.ts";
import { createHandoff, type Handoff, offerHandoffs, sameNames } from "../handoff.ts";
import { AgentSkills } from "./skills/agent-skills.ts";
import { type HumanApproval, humanApproval } from "../../turn/human-approval.ts";
import { type AssistantAgentOptions, skillNamesSchema } from "./options.ts";
import { ToolSearch } from "./tool-search.ts";

/** The options that keep their name and type; missing ones get a default. */
type PlainOption =
  | "name"
  | "modelClient"
  | "modelContext"
  | "memory"
  | "modelClientStream"
  | "reflectOnToolUse"
  | "maxToolIterations"
  | "toolCallSummaryFormat"
  | "metadata";

/** An assistant's options, checked and completed. They are constant; only the parts in them have state. */
export interface AssistantSettings extends Readonly<
  { [Name in PlainOption]: NonNullable<AssistantAgentOptions[Name]> } & Pick<
    AssistantAgentOptions,
    "toolCallSummaryFormatter"
  >
> {
  systemMessage: SystemMessage | null;
  workbenches: readonly Workbench[];
  /** False for an agent without any tools. Its empty workbench is part of the config, as in AutoGen. */
  hasTools: boolean;
  /** The tools of the memories, for skills, and of the tool search, which is the last. They are not part of the config: the memories and the setting are. */
  ownTools: readonly Workbench[];
  /** Handoffs by the name of their tool. */
  handoffs: readonly Handoff[];
  /** By each name under which a model can call them. */
  handoffOf: ReadonlyMap<string, Handoff>;
  handoffTools: readonly ToolSchema[];
  toolSearch: ToolSearch | undefined;
  skills: AgentSkills | undefined;
  /** For scripts of skills. */
  approval: HumanApproval | null;
  output: StructuredMessageFactory | undefined;
}

const DEFAULTS = {
  memory: [],
  modelClientStream: false,
  maxToolIterations: 1,
  toolCallSummaryFormat: "{result}",
  metadata: {},
};

const SYSTEM_MESSAGE =
  "You are a helpful assistant. Use your tools where they help, and write TERMINATE once the task is done.";

const SUMMARY_EXAMPLE = { tool_name: "", arguments: "", result: "", is_error: false };

/** @throws ValueError for options that contradict each other */
export function settingsOf(
  options: Given<AssistantAgentOptions>,
  definition: AnyComponentDefinition,
): AssistantSettings {
  const { tools = [], systemMessage = SYSTEM_MESSAGE } = options;
  const completed = { ...DEFAULTS, ...options };
  const { maxToolIterations, toolCallSummaryFormat } = completed;
  const handoffs = (options.handoffs ?? []).map(createHandoff);
  const output = outputOf(options);
  const toolNames = tools.map(({ name }) => name);
  checkNames(toolNames, handoffs);
  const offered = offerHandoffs(handoffs, toolNames);
  if (tools.length + handoffs.length > 0 && !options.modelClient.modelInfo.functionCalling) {
    throw refused(
      "model_client",
      `the model of "${options.name}" does not call functions, which tools and handoffs need`,
    );
  }
  const memoryTools = memoryToolsOf(options);
  const toolSearch = toolSearchOf(options, definition);
  const approval = humanApproval(options.approval, options.approvalTimeoutSeconds);
  const workbenches = workbenchesOf(options);
  const skills = skillsOf(options, { workbenches, approval }, definition);
  const ownTools = [
    ...memoryTools,
    ...[skills, toolSearch].flatMap((one) => (one === undefined ? [] : [one.workbench])),
  ];
  if (!Number.isInteger(maxToolIterations) || maxToolIterations < 1) {
    throw refused(
      "max_tool_iterations",
      `maxToolIterations must be a whole number from 1, not ${maxToolIterations}`,
    );
  }
  requireTemplates([
    { path: "tool_call_summary_format", template: toolCallSummaryFormat, example: SUMMARY_EXAMPLE },
  ]);
  return {
    ...completed,
    modelContext: options.modelContext ?? new UnboundedChatCompletionContext(),
    reflectOnToolUse: options.reflectOnToolUse ?? output !== undefined,
    systemMessage:
      systemMessage === null ? null : { content: systemMessage, type: "SystemMessage" },
    workbenches,
    hasTools: options.workbench !== undefined || tools.length + ownTools.length > 0,
    ownTools,
    handoffs,
    handoffOf: offered.byName,
    handoffTools: offered.tools,
    toolSearch,
    skills,
    approval,
    output,
  };
}

/** @throws ValueError for a name twice, and for a model that cannot call tools */
function skillsOf(
  { name, skills, scriptRunner: scripts, modelClient }: AssistantAgentOptions,
  parts: { workbenches: readonly Workbench[]; approval: HumanApproval | null },
  definition: AnyComponentDefinition,
): AgentSkills | undefined {
  if (skills === undefined) return undefined;
  if (!modelClient.modelInfo.functionCalling) {
    throw refused(
      "model_client",
      `the model of "${name}" does not call functions, which skills need`,
    );
  }
  const own = new Map(skills.flatMap((one) => (typeof one === "string" ? [] : [[one.name, one]])));
  const {
    success,
    data: names,
    error,
  } = skillNamesSchema.safeParse(skills.map((one) => (typeof one === "string" ? one : one.name)));
  if (!success) throw refused("skills", `skills ${error.issues[0]?.message}`);
  return new AgentSkills({ names, own, scripts, ...parts }, definition);
}

function toolSearchOf(
  { toolSearch, memory = [] }: AssistantAgentOptions,
  definition: AnyComponentDefinition,
): ToolSearch | undefined {
  if (toolSearch === undefined || toolSearch === false) return undefined;
  return new ToolSearch(toolSearch === true ? {} : toolSearch, definition, memory);
}

function workbenchesOf({ tools = [], workbench }: AssistantAgentOptions): readonly Workbench[] {
  if (workbench === undefined) return [new StaticStreamWorkbench(tools)];
  if (tools.length > 0) throw refused("tools", "give either tools or workbenches, not both");
  return "callTool" in workbench ? [workbench] : workbench;
}

/** @throws ValueError when names collide, and for a model that cannot call tools */
function memoryToolsOf({
  name,
  memory = [],
  modelClient,
  tools = [],
}: AssistantAgentOptions): readonly Workbench[] {
  const all = memory.flatMap((one) => one.tools ?? []);
  if (all.length === 0) return [];
  if (!modelClient.modelInfo.functionCalling) {
    throw refused(
      "model_client",
      `the model of "${name}" does not call functions, which the tools of its memories need`,
    );
  }
  const names = [...tools, ...all].map((tool) => tool.name);
  const twice = names.find((one, index) => names.indexOf(one) !== index);
  if (twice !== undefined) {
    throw refused(
      "memory",
      `the tool "${twice}" of a memory has the name of another tool: only one memory of each kind can be writable, and tools need other names`,
    );
  }
  return [new StaticStreamWorkbench(all)];
}

function checkNames(tools: readonly string[], handoffs: readonly Handoff[]): void {
  const [twice] = sameNames(handoffs, tools);
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

function outputOf({
  outputContentType: type,
  outputContentTypeFormat: format,
}: AssistantAgentOptions): StructuredMessageFactory | undefined {
  if (type === undefined || type instanceof StructuredMessageFactory) return type;
  const jsonSchema = jsonSchemaOf(type, "outputContentType");
  return new StructuredMessageFactory({
    jsonSchema,
    formatString: format ?? null,
    contentModelName: typeof jsonSchema.title === "string" ? jsonSchema.title : null,
  });
}
