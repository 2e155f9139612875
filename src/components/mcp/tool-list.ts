import * as z from "zod";
import { ValueError } from "../../core/errors.ts";
import { pathOf } from "../../core/issues.ts";
import { readObjectSchema } from "../../core/json-schema/read-object-schema.ts";
import { jsonObjectSchema } from "../../core/json-object.ts";
import { isJsonObject, type JsonObject, sortedJson } from "../../core/json.ts";
import type { ToolSchema } from "../../core/models/chat-completion-client.ts";
import type { StepPolicy } from "../../core/steps/step-attempt.ts";
import { fittingName, fittingNameOf } from "../../core/tools/tool-name.ts";
import type { ToolOverride } from "../../core/tools/static-workbench.ts";

/** A tool as its server describes it, without unused parts. */
export interface McpTool {
  name: string;
  description?: string | null | undefined;
  /** A JSON Schema of the arguments. */
  inputSchema: JsonObject;
  annotations?:
    | { readOnlyHint?: boolean | null | undefined; idempotentHint?: boolean | null | undefined }
    | null
    | undefined;
  /** Says for whom the tool is (MCP Apps), and what else the server chooses. */
  _meta?: unknown;
}

/** Other keys of the protocol are kept. */
export const mcpToolSchema: z.ZodType<McpTool> = z.looseObject({
  name: z.string().min(1),
  description: z.string().nullish(),
  inputSchema: jsonObjectSchema,
  annotations: z
    .looseObject({ readOnlyHint: z.boolean().nullish(), idempotentHint: z.boolean().nullish() })
    .nullish(),
});

/** The policy of a call: an interrupted one may be repeated if the server declares the tool read-only or idempotent. */
export function policyOf({ annotations }: McpTool): StepPolicy {
  return annotations?.readOnlyHint === true || annotations?.idempotentHint === true
    ? "retry"
    : "never";
}

/** A fingerprint of the server's whole description of a tool. */
export function identityOf(tool: McpTool): string {
  return sortedJson(tool);
}

/** A tool under the name that the model calls. */
export interface ShownTool {
  tool: McpTool;
  schema: ToolSchema;
}

/** Overrides of a tool's name and description, by its own name. */
export interface ToolOverrides {
  readonly [toolName: string]: Pick<ToolOverride, "name" | "description">;
}

/** @throws ValueError when two overrides give the same name */
export function checkOverrides(overrides: ToolOverrides): void {
  const taken = new Map<string, string>();
  for (const [original, { name }] of Object.entries(overrides)) {
    if (name == null || name === "") continue;
    const other = taken.get(name);
    if (other !== undefined) {
      const message = `the name "${name}" is given to "${other}" as well; names must be different`;
      throw new ValueError(message, {
        issues: [{ path: pathOf(["tool_overrides", original, "name"]), message }],
      });
    }
    taken.set(name, original);
  }
}

/**
 * The tools by the names that the model calls. If several of a server have one name, the first counts. Different names
 * that are the same once they are made to fit get an ending made from the whole name: the same in each turn, and in
 * whatever order the server lists its tools.
 */
export function shownTools(
  tools: readonly McpTool[],
  overrides: ToolOverrides,
): Map<string, ShownTool> {
  const byName = new Map<string, ShownTool>();
  for (const tool of tools) {
    const override = Object.hasOwn(overrides, tool.name) ? overrides[tool.name] : undefined;
    const name = override?.name || tool.name;
    if (!byName.has(name)) byName.set(name, { tool, schema: schemaOf(tool, override) });
  }
  const shared = new Map<string, number>();
  for (const { schema } of byName.values())
    shared.set(schema.name, (shared.get(schema.name) ?? 0) + 1);
  const offered = new Map<string, ShownTool>();
  for (const [name, { tool, schema }] of byName) {
    const isClear = name === schema.name || shared.get(schema.name) === 1;
    const unique = isClear ? schema : { ...schema, name: fittingNameOf(name) };
    offered.set(unique.name, { tool, schema: unique });
  }
  return offered;
}

/** A tool for the model, under a name that models accept. */
export function schemaOf(tool: McpTool, override?: ToolOverrides[string]): ToolSchema {
  const name = override?.name || tool.name;
  return {
    name: fittingName(name),
    description: override?.description ?? tool.description ?? "",
    parameters: parametersOf(readObjectSchema(tool.inputSchema) ?? {}),
    strict: false,
  };
}

/** In AutoGen's form: an object without additional keys unless the schema allows them. */
function parametersOf(schema: JsonObject): JsonObject {
  const { properties, required, additionalProperties = false, $defs, definitions } = schema;
  return {
    type: "object",
    properties: isJsonObject(properties) ? properties : {},
    required: Array.isArray(required) ? required : [],
    additionalProperties,
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
  };
}
