import { ValueError } from "../../../core/errors.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { CreateOptions, ToolSchema } from "../../../core/models/chat-completion-client.ts";
import type { LLMMessage } from "../../../core/models/llm-messages.ts";
import { calledTools } from "../chat/conversation.ts";
import { acceptedAnswer, ToolWriter, type WrittenTool } from "../schemas/accepted-schema.ts";
import { CLAUDE } from "../schemas/dialects.ts";

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
): WrittenTool<JsonObject>[] {
  const given = tools.map((tool) => TOOLS.write(tool));
  if (answer !== undefined) given.push(answerTools(answer));
  if (given.length > 0) return given;
  return calledTools(messages).map((tool) => TOOLS.write(tool));
}

function answerTools({ name, schema }: AnswerTool): WrittenTool<JsonObject> {
  const { schema: input_schema, note } = acceptedAnswer(schema, CLAUDE);
  const description = "Gives the final answer. Call it once, with the whole answer.";
  return { wire: { name, description, input_schema }, note };
}

const TOOLS = new ToolWriter<JsonObject>(CLAUDE, ({ name, description }, { schema }) => ({
  name,
  input_schema: schema,
  ...(description && { description }),
}));

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
