import { ValueError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { CreateOptions, ToolSchema } from "../../core/models/chat-completion-client.ts";

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

const written = new WeakMap<ToolSchema, string>();

/**
 * The elements of the request's `tools`.
 * @throws ValueError for a name the API does not take
 */
export function writeTools(tools: readonly ToolSchema[]): string {
  return tools
    .map((tool) => {
      let text = written.get(tool);
      if (text === undefined) {
        text = writeTool(tool);
        written.set(tool, text);
      }
      return text;
    })
    .join(",");
}

function writeTool({ name, description, parameters, strict }: ToolSchema): string {
  if (!TOOL_NAME.test(name))
    throw new ValueError(
      `The tool name '${name}' is not possible: up to 64 letters, digits, '_' and '-' are`,
    );
  return JSON.stringify({
    type: "function",
    function: {
      name,
      description: description ?? "",
      parameters: parameters ?? {},
      strict: strict ?? false,
    },
  });
}

/**
 * The request's `tool_choice`.
 * @throws ValueError when it names a tool that is not there
 */
export function wireToolChoice(
  choice: NonNullable<CreateOptions["toolChoice"]>,
  tools: readonly ToolSchema[],
): string | JsonObject {
  if (typeof choice === "string") return choice;
  const names = tools.map((tool) => tool.name);
  if (!names.includes(choice.name))
    throw new ValueError(
      `toolChoice names '${choice.name}', the tools are: ${names.join(", ") || "none"}`,
    );
  return { type: "function", function: { name: choice.name } };
}

/** A tool name as a model wrote it, in the letters that the API takes back. */
export function toolNameOf(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64);
}
