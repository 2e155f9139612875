import * as z from "zod";
import { MAX_CLIENT_TOOLS } from "../../../../contract/constants.ts";
import { isJsonObject } from "../../../../core/json.ts";
import type { ToolSchema } from "../../../../core/models/chat-completion-client.ts";
import { openObjectSchema } from "../../../../contract/common.ts";
import { refusedAt } from "./parse.ts";

const functionShape = {
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "must be 1 to 64 letters, digits, _ and -"),
  description: z.string().nullish(),
  parameters: openObjectSchema.nullish(),
  strict: z.boolean().nullish(),
};

const FUNCTIONS_ONLY = 'must be "function": other tools belong in the component';

/** As in a request for a chat completion. */
export const chatToolSchema = z.object({
  type: z.literal("function", FUNCTIONS_ONLY),
  function: z.object(functionShape),
});

/** As in a request for a response. */
export const responseToolSchema = z.object({
  type: z.literal("function", FUNCTIONS_ONLY),
  ...functionShape,
});

/** A tool in the form of a response's request, which has the function's fields itself, as a chat completion has it. */
export function asChatTool(tool: unknown): unknown {
  if (!isJsonObject(tool) || tool["function"] !== undefined || tool["name"] === undefined)
    return tool;
  const { type, ...described } = tool;
  return { type, function: described };
}

type FunctionTool = z.output<typeof chatToolSchema>["function"];

/** The client's tools as agents may call them. @throws ProblemError 422 for too many, or two with one name */
export function toolSchemas(tools: readonly FunctionTool[]): ToolSchema[] {
  if (tools.length > MAX_CLIENT_TOOLS) {
    throw refusedAt("tools", `must be at most ${MAX_CLIENT_TOOLS}`);
  }
  const names = new Set<string>();
  return tools.map(({ name, description, parameters, strict }, index) => {
    if (names.has(name)) throw refusedAt(`tools[${index}]`, `repeats the name ${name}`);
    names.add(name);
    return {
      name,
      ...(description != null && { description }),
      ...(parameters != null && { parameters }),
      ...(strict != null && { strict }),
    };
  });
}
