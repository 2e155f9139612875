import * as z from "zod";
import type { ToolCatalog } from "../component/catalog.ts";
import type { ComponentDefinition } from "../component/component.ts";
import { ValueError } from "../errors.ts";
import { jsonObjectSchema } from "../json.ts";
import { type Finding, findingSchema, inspectFunctions } from "../python/inspect-functions.ts";
import { PythonFunctionTool } from "../python/python-function-tool.ts";
import type { PythonHost } from "../python/python-host.ts";
import {
  hashOfSource,
  importSchema,
  type PythonSource,
  pythonSource,
} from "../python/python-source.ts";
import { FUNCTION_TOOL } from "./function-tool.ts";
import { isStatefulTool } from "./stateful-tool.ts";
import type { AnyTool } from "./tool.ts";
import { toolParameters } from "./tool-parameters.ts";
import { variantOf } from "./tool-variant.ts";

/** What was found out about the source, and about which. */
const preparedSchema = z.object({ source: z.string() }).and(findingSchema);

/**
 * AutoGen writes the function's source code and imports, too; they may be missing. Ours are `strict`, which AutoGen forgets,
 * and `troupe`, where {@link preparedSchema} is looked for.
 */
const functionToolConfigSchema = z
  .looseObject({
    name: z.string(),
    description: z.string().optional(),
    source_code: z.string().optional(),
    global_imports: z.array(importSchema).optional(),
    has_cancellation_support: z.boolean().optional(),
    strict: z.boolean().nullish(),
  })
  .and(jsonObjectSchema);
type FunctionToolConfig = z.infer<typeof functionToolConfigSchema>;

/**
 * How a FunctionTool is loaded: by its name, from the tools the program registered; otherwise its Python runs in the
 * sandbox. It is dumped as it was loaded.
 *
 * @param python undefined where no sandbox is configured
 */
export function functionToolDefinition(
  catalog: ToolCatalog,
  python?: PythonHost,
): ComponentDefinition<FunctionToolConfig, AnyTool> {
  const inspect = async (sources: PythonSource[]): Promise<Finding[]> =>
    python === undefined ? [] : inspectFunctions(python, sources);
  return {
    ...FUNCTION_TOOL,
    configSchema: functionToolConfigSchema,
    prepare(config, preparation) {
      const source = sourceOf(config);
      if (python === undefined || source === undefined) return undefined;
      if (catalog.tool(config.name) !== undefined) return undefined;
      const known = findingOn(source, config);
      if (known !== undefined && "parameters" in known) return undefined;
      return preparation
        .together(inspect, source)
        .then((finding) => ({ ...finding, source: hashOfSource(source) }));
    },
    fromConfig(config) {
      const tool = catalog.tool(config.name);
      if (tool === undefined) return inPython(config, python);
      if (isStatefulTool(tool)) {
        throw refused(
          "name",
          `the tool "${config.name}" remembers something, which all teams would share; register it as a component of its own`,
        );
      }
      return asConfigured(tool, config);
    },
    notes(config) {
      if (sourceOf(config) === undefined) return [];
      const registered = catalog.tool(config.name) !== undefined;
      // A team may be older than the settings, and be shown though it cannot be loaded.
      if (!registered && python === undefined) return [];
      const message = registered
        ? "does not run: this server has a tool of that name"
        : "runs in the sandbox of this server";
      return [{ path: "config.source_code", message }];
    },
  };
}

/** The Python function of a config, if there is one. */
function sourceOf({
  source_code: source = "",
  global_imports: imports,
}: FunctionToolConfig): PythonSource | undefined {
  return source.trim() === "" ? undefined : pythonSource(source, imports);
}

/** What was found out about this source. */
function findingOn(source: PythonSource, { troupe }: FunctionToolConfig): Finding | undefined {
  const { success, data } = preparedSchema.safeParse(troupe);
  return success && data.source === hashOfSource(source) ? data : undefined;
}

function inPython(config: FunctionToolConfig, python: PythonHost | undefined): AnyTool {
  const { name } = config;
  const source = sourceOf(config);
  if (python === undefined || source === undefined) {
    const otherwise =
      source === undefined
        ? "the JSON has no Python code for it either"
        : "no sandbox is there to run its Python code (SANDBOX_URL)";
    throw refused("name", `no tool named "${name}" is registered, and ${otherwise}`);
  }
  const finding = findingOn(source, config);
  if (finding === undefined) {
    throw refused(
      "source_code",
      "has to be prepared before it is loaded: await registry.prepare(json)",
    );
  }
  if ("message" in finding) throw refused(finding.place, finding.message);
  const strict = config.strict === true;
  const { schema: parameters } = toolParameters(name, finding.parameters, strict);
  const description = config.description ?? finding.description;
  return new PythonFunctionTool({
    schema: { name, description, parameters, strict },
    function: source,
    executor: python.executor(),
    config,
  });
}

function refused(path: string, message: string): ValueError {
  return new ValueError(message, { issues: [{ path, message }] });
}

/** The registered tool under the description of the JSON. */
function asConfigured(tool: AnyTool, config: FunctionToolConfig): AnyTool {
  const description = config.description ?? tool.description;
  return variantOf(tool, {
    definition: FUNCTION_TOOL,
    description,
    schema: { ...tool.schema, description },
    toConfig: () => config,
  });
}
