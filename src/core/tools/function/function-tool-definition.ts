import * as z from "zod";
import type { ToolCatalog } from "../catalog.ts";
import type { ComponentDefinition } from "../../component/component.ts";
import { inConfig } from "../../component/refused-where-new.ts";
import { type Issue, ValueError } from "../../errors.ts";
import { jsonObjectSchema } from "../../json-object.ts";
import { type Finding, findingSchema, inspectFunctions } from "../../python/inspect-functions.ts";
import { PythonFunctionTool } from "./python-function-tool.ts";
import { distributionsOf } from "../../python/distributions.ts";
import type { PythonHost } from "../../python/python-host.ts";
import {
  functionNames,
  hashOfSource,
  importSchema,
  type PythonSource,
  pythonSource,
} from "../../python/python-source.ts";
import { retryPolicyOf, retrySchema } from "../../steps/retry-config.ts";
import { FUNCTION_TOOL } from "./function-tool.ts";
import { isStub } from "./function-tool-stub.ts";
import { isStatefulTool } from "../stateful-tool.ts";
import type { AnyTool } from "../tool.ts";
import { toolNameMistakes } from "../tool-name.ts";
import { toolParameters } from "./tool-parameters.ts";
import { variantOf } from "../tool-variant.ts";

/** The finding on a source, and the hash of that source. */
const preparedSchema = z.object({ source: z.string() }).and(findingSchema);

/**
 * AutoGen's keys, of which the source code and its imports are optional here; `strict`, which AutoGen does not dump; `env`, the environment
 * variables of Python; `retry`, how long calls are repeated while the sandbox is away; and `troupe` with what {@link preparedSchema} describes.
 */
const functionToolConfigSchema = z
  .looseObject({
    name: z.string(),
    description: z.string().optional(),
    source_code: z.string().optional(),
    global_imports: z.array(importSchema).optional(),
    has_cancellation_support: z.boolean().optional(),
    strict: z.boolean().nullish(),
    env: z.record(z.string(), z.string()).optional(),
    retry: retrySchema.nullish(),
  })
  .and(jsonObjectSchema);
type FunctionToolConfig = z.infer<typeof functionToolConfigSchema>;

/**
 * Loads a FunctionTool: a tool that the program registered under its name comes first, then its own Python source code,
 * then a tool of the shipped templates. It is dumped as it was loaded.
 *
 * @param python undefined when no sandbox is configured
 * @param shipped the tools of the shipped templates
 */
export function functionToolDefinition(
  catalog: ToolCatalog,
  python?: PythonHost,
  shipped?: ToolCatalog,
): ComponentDefinition<FunctionToolConfig, AnyTool> {
  const inspect = async (sources: PythonSource[]): Promise<Finding[]> =>
    python === undefined ? [] : inspectFunctions(python, sources);
  const toolFor = (config: FunctionToolConfig): AnyTool | undefined =>
    catalog.tool(config.name) ??
    (sourceOf(config) === undefined ? shipped?.tool(config.name) : undefined);
  return {
    ...FUNCTION_TOOL,
    configSchema: functionToolConfigSchema,
    prepare(config, preparation) {
      const source = sourceOf(config);
      if (python === undefined || source === undefined) return undefined;
      if (catalog.tool(config.name) !== undefined) return undefined;
      const earlier = findingOn(source, config);
      const isComplete = earlier?.missing === undefined || earlier.missing.length === 0;
      // A package that was missing may be installed by now.
      if (earlier !== undefined && "parameters" in earlier && isComplete) return undefined;
      return preparation
        .together(inspect, source)
        .then((finding) => ({ ...finding, source: hashOfSource(source) }));
    },
    refusals: ({ name }) => inConfig(toolNameMistakes(name)),
    fromConfig(config) {
      const tool = toolFor(config);
      if (tool === undefined) return inPython(config, python);
      if (isStatefulTool(tool)) {
        throw refused(
          "name",
          `the tool "${config.name}" has state, which all teams would share; register it as a component`,
        );
      }
      return asConfigured(tool, config);
    },
    notes(config) {
      const source = sourceOf(config);
      if (source === undefined) return [];
      const path = "config.source_code";
      if (catalog.tool(config.name) !== undefined) {
        return [{ path, message: "does not run: this server has a tool of that name" }];
      }
      // A stored team may still be shown after a change of settings by which it can no longer be loaded.
      if (python === undefined) return [];
      const lack = lackOf(findingOn(source, config), config.name);
      return [
        { path, message: "runs in the sandbox of this server" },
        ...functionNotes(source.source, config.name, path),
        ...(python.environmentNotes?.(config.env ?? {}) ?? []),
        ...(lack === undefined ? [] : [{ path, message: `a call fails at an import: ${lack}` }]),
      ];
    },
  };
}

/** The Python function of a config; undefined for a stub and without source. */
function sourceOf({
  name,
  source_code: source = "",
  global_imports: imports,
  env = {},
}: FunctionToolConfig): PythonSource | undefined {
  if (source.trim() === "" || isStub(source)) return undefined;
  return pythonSource(name, source, imports, Object.keys(env));
}

/** The finding on this source, if the config has it. */
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
        ? "the component has no Python for it: register the tool in code, or give its function as source_code"
        : "no sandbox is configured to run its Python (SANDBOX_URL)";
    throw refused("name", `no tool named "${name}" is registered, and ${otherwise}`);
  }
  const finding = findingOn(source, config);
  if (finding === undefined) {
    throw refused(
      "source_code",
      "must be prepared before it is loaded: await registry.prepare(json)",
    );
  }
  if ("message" in finding) {
    const { place, message } = finding;
    const lack = lackOf(finding, name);
    throw refused(place, lack === undefined ? message : `${message}: ${lack}`);
  }
  const strict = config.strict === true;
  const { schema: parameters } = toolParameters(name, finding.parameters, strict);
  const description = config.description ?? finding.description;
  return new PythonFunctionTool({
    schema: { name, description, parameters, strict },
    function: source,
    lack: lackOf(finding, name),
    executor: python.executor(config.env),
    retry: retryPolicyOf({ retry: config.retry }),
    config,
  });
}

/** A note where a source has several functions and none has the tool's name. */
function functionNotes(source: string, tool: string, path: string): Issue[] {
  const [first = "", ...others] = functionNames(source);
  if (others.length === 0 || first === tool || others.includes(tool)) return [];
  const message = `defines ${[first, ...others].join(", ")}: a call runs ${first}, the first one, because no function is named "${tool}"`;
  return [{ path, message }];
}

/** The packages that a function lacks, with the line that installs all that its component lacks; undefined without any. */
function lackOf(finding: Finding | undefined, tool: string): string | undefined {
  const { missing = [], missing_together: all = missing, python } = finding ?? {};
  if (missing.length === 0) return undefined;
  const modules = missing.map((name) => `"${name}"`).join(", ");
  const packages = distributionsOf(all);
  const install = `pip install ${packages.join(" ")}`;
  // In an environment, a package is there for the next call.
  const run =
    python === undefined
      ? `Run "python3 -m venv .venv && .venv/bin/${install}" and "npm start -- --python .venv" (SANDBOX_NETWORK=1 gives code the network)`
      : `Run "${python} -m ${install}"`;
  return `the sandbox has no Python ${missing.length === 1 ? "package" : "packages"} ${modules}. ${run}, start the sandbox with SANDBOX_PACKAGES=${packages.join(",")}, or register a tool "${tool}" in TypeScript`;
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
