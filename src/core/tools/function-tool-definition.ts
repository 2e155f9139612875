import * as z from "zod";
import type { ToolCatalog } from "../component/catalog.ts";
import type { ComponentDefinition } from "../component/component.ts";
import { ValueError } from "../errors.ts";
import { jsonObjectSchema } from "../json.ts";
import { FUNCTION_TOOL } from "./function-tool.ts";
import { isStatefulTool } from "./stateful-tool.ts";
import type { AnyTool } from "./tool.ts";
import { variantOf } from "./tool-variant.ts";

/** AutoGen writes the function's source code and imports, too; they may be missing, are kept and never run. */
const functionToolConfigSchema = z
  .looseObject({
    name: z.string(),
    description: z.string().optional(),
    source_code: z.string().optional(),
    global_imports: z.array(z.json()).optional(),
    has_cancellation_support: z.boolean().optional(),
  })
  .and(jsonObjectSchema);
type FunctionToolConfig = z.infer<typeof functionToolConfigSchema>;

/** How a FunctionTool is loaded: by its name, from the tools the program registered. It is dumped as it was loaded. */
export function functionToolDefinition(
  catalog: ToolCatalog,
): ComponentDefinition<FunctionToolConfig, AnyTool> {
  return {
    ...FUNCTION_TOOL,
    configSchema: functionToolConfigSchema,
    fromConfig: (config) => {
      const tool = catalog.tool(config.name);
      if (tool === undefined) {
        throw refused(
          `no tool named "${config.name}" is registered; code in component JSON is not run, the program must register its tools`,
        );
      }
      if (isStatefulTool(tool)) {
        throw refused(
          `the tool "${config.name}" remembers something, which all teams would share; register it as a component of its own`,
        );
      }
      return asConfigured(tool, config);
    },
  };
}

function refused(message: string): ValueError {
  return new ValueError(message, { issues: [{ path: "name", message }] });
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
