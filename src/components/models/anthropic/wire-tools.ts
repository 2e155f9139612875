import { ValueError } from "../../../core/errors.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { CreateOptions, ToolSchema } from "../../../core/models/chat-completion-client.ts";
import type { LLMMessage } from "../../../core/models/llm-messages.ts";
import { checkToolName } from "../chat/tool-name.ts";

/** A tool that the model answers with instead of a text: the API has no JSON mode that all models know. */
export interface AnswerTool {
  name: string;
  schema: JsonObject;
}

/**
 * The answer tool for a kind of JSON output. Its name is one that no other tool has.
 *
 * @param schema the schema of the answer; true for any JSON object
 */
export function answerToolFor(schema: JsonObject | true, tools: readonly ToolSchema[]): AnswerTool {
  let name = "json_answer";
  while (tools.some((tool) => tool.name === name)) name += "_";
  return { name, schema: schema === true ? { type: "object" } : schema };
}

/**
 * The request's `tools`.
 *
 * @param messages whose calls must be of known tools: those of earlier turns are declared by name when they are not given
 * @throws ValueError for a name the API does not accept
 */
export function wireTools(
  tools: readonly ToolSchema[],
  messages: readonly LLMMessage[],
  answer: AnswerTool | undefined,
): JsonObject[] {
  const wire = tools.map(wireTool);
  if (answer !== undefined)
    wire.push({
      name: answer.name,
      description: "Gives the final answer. Call it once, with the whole answer.",
      input_schema: answer.schema,
    });
  if (wire.length > 0) return wire;
  return [...calledTools(messages)].map((name) => wireTool({ name }));
}

const written = new WeakMap<ToolSchema, JsonObject>();

function wireTool(tool: ToolSchema): JsonObject {
  const known = written.get(tool);
  if (known !== undefined) return known;
  checkToolName(tool.name);
  const { type = "object", ...rest } = tool.parameters ?? {};
  const wire: JsonObject = { name: tool.name, input_schema: { type, ...rest } };
  if (tool.description) wire["description"] = tool.description;
  written.set(tool, wire);
  return wire;
}

function calledTools(messages: readonly LLMMessage[]): Set<string> {
  const names = new Set<string>();
  for (const message of messages)
    if (message.type === "AssistantMessage" && typeof message.content !== "string")
      for (const { name } of message.content) names.add(name);
  return names;
}

/**
 * The request's `tool_choice`.
 *
 * @param answer the answer tool: then a text is not an answer, so that a tool has to be called
 * @throws ValueError when the choice is a tool that was not given
 */
export function wireToolChoice(
  choice: NonNullable<CreateOptions["toolChoice"]>,
  tools: readonly ToolSchema[],
  answer: AnswerTool | undefined,
): JsonObject {
  if (typeof choice === "object") {
    const names = tools.map((tool) => tool.name);
    if (!names.includes(choice.name))
      throw new ValueError(
        `toolChoice names the tool '${choice.name}', which was not given; given tools: ${names.join(", ") || "none"}`,
      );
    return { type: "tool", name: choice.name };
  }
  if (answer !== undefined && (choice === "none" || tools.length === 0))
    return { type: "tool", name: answer.name };
  // Earlier calls declare tools that must not be called now.
  if (choice === "none" || (answer === undefined && tools.length === 0)) return { type: "none" };
  return { type: choice === "required" || answer !== undefined ? "any" : "auto" };
}
