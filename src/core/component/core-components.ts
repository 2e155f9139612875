import type { PythonHost } from "../python/python-host.ts";
import type { ToolCatalog } from "./catalog.ts";
import type { AnyComponentDefinition } from "./component.ts";
import { basicComponents } from "./groups/basic.ts";
import { furtherParts } from "./groups/parts.ts";
import { furtherTeams } from "./groups/teams.ts";

/**
 * All components that need nothing but this library: no network, no platform. An app registers its model clients and
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
