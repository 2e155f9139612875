import type { ToolSchema } from "../../models/chat-completion-client.ts";
import { fittingName, freeName, isToolName } from "../../tools/tool-name.ts";

/** A tool of a workbench as the model is offered it. */
export interface OfferedTool {
  /** Under a name that makers of models take and that no other tool of the agent has. */
  schema: ToolSchema;
  /** The name by which its workbench calls it. */
  name: string;
  /** The place of its workbench in the agent's list. */
  place: number;
}

/**
 * The tools of an agent's workbenches, in their order. Workbenches do not know each other, so two of them may list the same name.
 *
 * @param listed the tools of each workbench
 * @param handoffs the tools by which the agent hands over; they keep their names
 */
export function offerTools(
  listed: readonly (readonly ToolSchema[])[],
  handoffs: readonly ToolSchema[],
): OfferedTool[] {
  const tools = listed.flatMap((schemas, position) =>
    callable(schemas).map((schema) => ({ schema, name: schema.name, place: position })),
  );
  const taken = new Set(handoffs.map(({ name }) => name));
  // Names that can stay are given first, so that none of them is taken for a tool whose name is changed.
  const stays = new Set<OfferedTool>();
  for (const tool of tools) {
    if (!isToolName(tool.name) || taken.has(tool.name)) continue;
    taken.add(tool.name);
    stays.add(tool);
  }
  return tools.map((tool) => {
    if (stays.has(tool)) return tool;
    const name = freeName(fittingName(tool.name), taken);
    taken.add(name);
    return { ...tool, schema: { ...tool.schema, name } };
  });
}

/** The tool that a model calls: by the name that it was offered, or by the tool's own. */
export function calledTool(tools: readonly OfferedTool[], called: string): OfferedTool | undefined {
  return (
    tools.find(({ schema }) => schema.name === called) ?? tools.find(({ name }) => name === called)
  );
}

/** A workbench finds a tool by its name: of several with one name, it calls the first. */
function callable(schemas: readonly ToolSchema[]): ToolSchema[] {
  const names = schemas.map(({ name }) => name);
  return schemas.filter(({ name }, index) => names.indexOf(name) === index);
}
