import * as z from "zod";
import { openObjectSchema } from "../../../../contract/common.ts";
import type {
  AnswerForm,
  JsonOutput,
  ToolSchema,
} from "../../../../core/models/chat-completion-client.ts";
import { refusedAt } from "./parse.ts";

/** The form of the answer that a request wants, whichever agent answers. */
export type WantedForm = Omit<AnswerForm, "agent">;

const TYPES = 'must be "text", "json_object" or "json_schema"';

const schemaShape = {
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "must be 1 to 64 letters, digits, _ and -"),
  schema: openObjectSchema,
};

/** `response_format` of a chat completion. */
export const chatFormatSchema = z.discriminatedUnion(
  "type",
  [
    z.object({ type: z.literal("text") }),
    z.object({ type: z.literal("json_object") }),
    z.object({ type: z.literal("json_schema"), json_schema: z.object(schemaShape) }),
  ],
  TYPES,
);

/** `text.format` of a response. */
export const responseFormatSchema = z.discriminatedUnion(
  "type",
  [
    z.object({ type: z.literal("text") }),
    z.object({ type: z.literal("json_object") }),
    z.object({ type: z.literal("json_schema"), ...schemaShape }),
  ],
  TYPES,
);

type Format =
  | z.output<typeof chatFormatSchema>
  | z.output<typeof responseFormatSchema>
  | null
  | undefined;

/** The JSON that a format asks for, if it does. */
export function jsonOutputOf(format: Format): JsonOutput | undefined {
  switch (format?.type) {
    case undefined:
    case "text":
      return undefined;
    case "json_object":
      return true;
    case "json_schema": {
      const { name, schema } = "json_schema" in format ? format.json_schema : format;
      return { name, schema };
    }
  }
}

const named = z.union([
  z.object({ type: z.literal("function"), name: z.string() }),
  z
    .object({ type: z.literal("function"), function: z.object({ name: z.string() }) })
    .transform((tool) => ({ type: tool.type, name: tool.function.name })),
]);
const allowed = z.object({ mode: z.enum(["auto", "required"]), tools: z.array(named) });

/** The `tool_choice` of both protocols. Chat completions have the tool's name in an object of its own. */
export const toolChoiceSchema = z.union(
  [
    z.enum(["auto", "none", "required"]),
    named,
    allowed.extend({ type: z.literal("allowed_tools") }),
    z
      .object({ type: z.literal("allowed_tools"), allowed_tools: allowed })
      .transform((choice) => ({ type: choice.type, ...choice.allowed_tools })),
  ],
  'must be "auto", "none", "required", a function, or allowed_tools with functions',
);

/** The tools that may be called, and whether one has to be. @throws ProblemError 422 */
export function chosenTools(
  choice: z.output<typeof toolChoiceSchema> | null | undefined,
  tools: readonly ToolSchema[],
): { tools: ToolSchema[]; toolChoice?: NonNullable<WantedForm["toolChoice"]> } {
  const wanted = choice ?? "auto";
  if (wanted === "none") return { tools: [] };
  if (wanted === "auto") return { tools: [...tools] };
  const isNamed = (name: string): boolean => tools.some((tool) => tool.name === name);
  if (wanted !== "required" && wanted.type === "function") {
    if (!isNamed(wanted.name)) throw refusedAt("tool_choice", `must name one of tools`);
    return { tools: [...tools], toolChoice: { name: wanted.name } };
  }
  const names = wanted === "required" ? undefined : wanted.tools.map(({ name }) => name);
  const missing = names?.find((name) => !isNamed(name));
  if (missing !== undefined) {
    throw refusedAt("tool_choice", `must name tools of the request, which has no tool ${missing}`);
  }
  const left = tools.filter(({ name }) => names?.includes(name) ?? true);
  const isRequired = wanted === "required" || wanted.mode === "required";
  if (isRequired && left.length === 0) throw refusedAt("tool_choice", "needs tools");
  return { tools: left, ...(isRequired && { toolChoice: "required" as const }) };
}
