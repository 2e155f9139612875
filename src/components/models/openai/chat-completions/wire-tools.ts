import { ValueError } from "../../../../core/errors.ts";
import type { JsonObject } from "../../../../core/json.ts";
import type { CreateOptions, ToolSchema } from "../../../../core/models/chat-completion-client.ts";
import { checkToolName } from "../../chat/tool-name.ts";

const written = new WeakMap<ToolSchema, string>();

/**
 * The elements of the request's `tools`.
 * @throws ValueError for a name the API does not accept
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
  checkToolName(name);
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
 * @throws ValueError when it names a tool that is not among `tools`
 */
export function wireToolChoice(
  choice: NonNullable<CreateOptions["toolChoice"]>,
  tools: readonly ToolSchema[],
): string | JsonObject {
  if (typeof choice === "string") return choice;
  const names = tools.map((tool) => tool.name);
  if (!names.includes(choice.name))
    throw new ValueError(
      `toolChoice names the tool '${choice.name}', which was not given; given tools: ${names.join(", ") || "none"}`,
    );
  return { type: "function", function: { name: choice.name } };
}
