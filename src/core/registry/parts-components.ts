import { magenticOneCoderAgent } from "../agents/assistant/magentic-one-coder-agent.ts";
import type { JavaScriptHost } from "../code/javascript-host.ts";
import type { AnyComponentDefinition } from "../component/component.ts";
import { componentsOf } from "./component-classes.ts";
import type { PythonHost } from "../python/python-host.ts";
import type { ToolCatalog } from "../tools/catalog.ts";
import { functionToolDefinition } from "../tools/function/function-tool-definition.ts";
import { javaScriptToolDefinition } from "../tools/function/javascript-tool.ts";
import * as parts from "./part-classes.ts";

/** The components besides the basic ones and the teams: of classes, and three that have no public class or need a host. */
export function furtherParts(
  catalog: ToolCatalog,
  python?: PythonHost,
  shipped?: ToolCatalog,
  javascript?: JavaScriptHost,
): AnyComponentDefinition[] {
  return [
    ...componentsOf(parts),
    magenticOneCoderAgent,
    functionToolDefinition(catalog, python, shipped),
    javaScriptToolDefinition(javascript),
  ];
}
