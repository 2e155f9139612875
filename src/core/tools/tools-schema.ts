import { shortForm } from "../errors.ts";
import * as z from "zod";
import { hasMethods } from "../options/options.ts";

/** Checks tools that a program passes. */
export const toolSchema: z.ZodType = z.custom(isTool, { error: ({ input }) => mistake(input) });

export const toolsSchema: z.ZodType = z.array(toolSchema);

function isTool(value: unknown): boolean {
  const runs = hasMethods(value, ["run"]) || hasMethods(value, ["runStream"]);
  return runs && hasMethods(value, ["valueAsText", "toConfig"]);
}

function mistake(raw: unknown): string {
  if (typeof raw === "function") {
    return `must be a tool, not ${shortForm(raw)}: a model needs a name, a description and the parameters of it, so wrap it: new FunctionTool({ name, description, parameters, execute })`;
  }
  if (hasMethods(raw, ["onMessagesStream"])) {
    return "must be a tool, not an agent; wrap it: new AgentTool(agent)";
  }
  if (hasMethods(raw, ["turn"])) {
    return "must be a tool, not a team; wrap it: new TeamTool(team, { name, description })";
  }
  if (hasMethods(raw, ["callTool"])) {
    return 'must be a tool, not a workbench; pass it as the option "workbench"';
  }
  return `must be a tool, such as new FunctionTool({ name, description, parameters, execute }), not ${shortForm(raw)}`;
}
