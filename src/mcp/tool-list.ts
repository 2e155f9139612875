import * as z from "zod";
import { ValueError } from "../core/errors.ts";
import { pathOf } from "../core/issues.ts";
import { jsonObjectSchema } from "../core/json-object.ts";
import { isJsonObject, type JsonObject, sortedJson } from "../core/json.ts";
import type { ToolSchema } from "../core/models/chat-completion-client.ts";
import type { StepPolicy } from "../core/run/turn-context.ts";
import type { ToolOverride } from "../core/tools/static-workbench.ts";
import { McpError } from "./mcp-error.ts";
import type { McpSession, SessionUse } from "./connection/session.ts";

/** More tools than a model can choose from. */
const MAX_TOOLS = 500;

/** Characters of JSON. The list is part of every model call and is recorded. */
const MAX_LIST_LENGTH = 1_000_000;

/** What models accept as the name of a function. */
const NOT_IN_NAMES = /[^a-zA-Z0-9_-]/g;
const MAX_NAME = 64;

/** A tool as its server describes it, without the parts that nothing here reads. */
export interface McpTool {
  name: string;
  description?: string | null | undefined;
  /** A JSON Schema of the arguments. */
  inputSchema: JsonObject;
  annotations?:
    | { readOnlyHint?: boolean | null | undefined; idempotentHint?: boolean | null | undefined }
    | null
    | undefined;
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

/**
 * The tools of a server, all pages. Tools without a name or with a schema that is not an object are left out.
 *
 * @throws McpError when the server cannot be asked, or its list exceeds a limit
 */
export function fetchTools(session: McpSession, use: SessionUse): Promise<McpTool[]> {
  return session.use(use, async (client, timeout) => {
    if (client.getServerCapabilities()?.tools === undefined) return [];
    const { tools } = await client.listTools(undefined, { signal: use.signal, timeout });
    if (tools.length > MAX_TOOLS) {
      throw new McpError(
        "mcp_protocol",
        `The MCP server lists ${tools.length} tools; at most ${MAX_TOOLS} can be used.`,
      );
    }
    const kept = tools.flatMap((tool) => essential(tool));
    const { length } = JSON.stringify(kept);
    if (length <= MAX_LIST_LENGTH) return kept;
    throw new McpError(
      "mcp_protocol",
      `The list of tools of the MCP server has ${length} characters; at most ${MAX_LIST_LENGTH} can be used.`,
    );
  });
}

/** What a model and the rules for calls need; icons and output schemas may be large. */
function essential(tool: object): McpTool[] {
  const { data } = mcpToolSchema.safeParse(tool);
  if (data === undefined) return [];
  const { name, description, inputSchema, annotations } = data;
  return [
    {
      name,
      inputSchema,
      ...(description != null && { description }),
      ...(annotations != null && { annotations }),
    },
  ];
}

/** Whether an interrupted call may be repeated: where the server says that this does no harm. */
export function policyOf({ annotations }: McpTool): StepPolicy {
  return annotations?.readOnlyHint === true || annotations?.idempotentHint === true
    ? "retry"
    : "never";
}

/** Identifies everything that the server says about a tool. */
export function identityOf(tool: McpTool): string {
  return sortedJson(tool);
}

/** A tool under the name that the model calls. */
export interface ShownTool {
  tool: McpTool;
  schema: ToolSchema;
}

/** What replaces a tool's own name and description, by that name. */
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

/** The tools by the names that the model calls. Of several with one name the first counts. */
export function shownTools(
  tools: readonly McpTool[],
  overrides: ToolOverrides,
): Map<string, ShownTool> {
  const shown = new Map<string, ShownTool>();
  for (const tool of tools) {
    const override = Object.hasOwn(overrides, tool.name) ? overrides[tool.name] : undefined;
    const schema = schemaOf(tool, override);
    if (!shown.has(schema.name)) shown.set(schema.name, { tool, schema });
  }
  return shown;
}

/** A tool for the model, under a name that models accept. */
export function schemaOf(tool: McpTool, override?: ToolOverrides[string]): ToolSchema {
  const name = override?.name || tool.name;
  return {
    name: name.replaceAll(NOT_IN_NAMES, "_").slice(0, MAX_NAME),
    description: override?.description ?? tool.description ?? "",
    parameters: parametersOf(tool.inputSchema),
    strict: false,
  };
}

/** As AutoGen passes it on: an object without further keys unless the schema says otherwise. */
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
