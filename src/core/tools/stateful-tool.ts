import type { Stateful } from "../state/stateful.ts";
import type { AnyTool } from "./tool.ts";

/** True if a tool has state that outlives a call. */
export function isStatefulTool(tool: AnyTool): tool is AnyTool & Stateful {
  return tool.saveState !== undefined && tool.loadState !== undefined;
}
