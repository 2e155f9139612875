import type { PythonHost } from "../python/python-host.ts";
import type { ToolCatalog } from "../tools/catalog.ts";
import type { AnyComponentDefinition } from "../component/component.ts";
import { basicComponents } from "./basic-components.ts";
import { furtherParts } from "./parts-components.ts";
import { furtherTeams } from "./teams-components.ts";

/**
 * All components that need only this library: no network, no platform. An app registers its model clients and
 * code executors beside them.
 *
 * @param catalog the tools that FunctionTools in component JSON refer to by name
 * @param python runs the Python source code of FunctionTools; without it they are refused
 * @param shipped tools for FunctionTools that have no source code and are not in `catalog`
 */
export function coreComponents(
  catalog: ToolCatalog,
  python?: PythonHost,
  shipped?: ToolCatalog,
): AnyComponentDefinition[] {
  return [...basicComponents(), ...furtherTeams(), ...furtherParts(catalog, python, shipped)];
}
