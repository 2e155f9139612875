import type { Stateful } from "../state/stateful.ts";
import type { AnyTool } from "./tool.ts";

/** Whether a tool remembers something between calls. */
export function isStatefulTool(tool: AnyTool): tool is AnyTool & Stateful {
  return tool.saveState !== undefined && tool.loadState !== undefined;
}
