import { ValueError } from "../../../../core/errors.ts";
import type { JsonObject } from "../../../../core/json.ts";
import type { CreateOptions, ToolSchema } from "../../../../core/models/chat-completion-client.ts";
import { requestJson } from "../../chat/request-text.ts";
import { ToolWriter } from "../../schemas/accepted-schema.ts";
import type { SchemaDialect } from "../../schemas/dialects.ts";

/** Writes the elements of the request's `tools`, each as JSON. */
export function toolWriter(dialect: SchemaDialect): ToolWriter<string> {
  return new ToolWriter(dialect, ({ name, description = "" }, { schema, strict }) =>
    requestJson({
      type: "function",
      function: { name, description, parameters: schema, strict },
    }),
  );
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
