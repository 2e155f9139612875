import type { JavaScriptHost } from "../code/javascript-host.ts";
import type { PythonHost } from "../python/python-host.ts";
import type { ToolCatalog } from "../tools/catalog.ts";
import type { AnyComponentDefinition } from "../component/component.ts";
import { componentsOf } from "./component-classes.ts";
import * as basic from "./basic-classes.ts";
import { furtherParts } from "./parts-components.ts";
import * as teams from "./team-classes.ts";

/**
 * All components that need only this library: no network, no platform. An app registers its model clients and
 * code executors beside them.
 *
 * @param catalog the tools that FunctionTools in component JSON refer to by name
 * @param python runs the Python source code of FunctionTools; without it they are refused
 * @param shipped tools for FunctionTools that have no source code and are not in `catalog`
 * @param javascript runs the source code of JavaScriptTools; without it they are refused
 */
export function coreComponents(
  catalog: ToolCatalog,
  python?: PythonHost,
  shipped?: ToolCatalog,
  javascript?: JavaScriptHost,
): AnyComponentDefinition[] {
  return [
    ...componentsOf(basic),
    ...componentsOf(teams),
    ...furtherParts(catalog, python, shipped, javascript),
  ];
}
